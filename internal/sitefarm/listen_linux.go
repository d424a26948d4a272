package sitefarm

import (
	"context"
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// listen opens one port on all loopback addresses: on every address there is, but bound to the loopback device, so that
// nobody else reaches it.
func listen(int) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var bound error
		err := c.Control(func(fd uintptr) { bound = unix.BindToDevice(int(fd), "lo") })
		return errors.Join(err, bound)
	}}
	return config.Listen(context.Background(), "tcp4", "0.0.0.0:0")
}
