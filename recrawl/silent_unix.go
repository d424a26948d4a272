//go:build unix

package recrawl

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// silent tells whether there is nothing to read from a connection, not even its end.
func silent(conn net.Conn) bool {
	under, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return false
	}
	ready := 0
	err = raw.Control(func(fd uintptr) {
		ready, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) // no answer is none that anything came
	})
	return err == nil && ready == 0
}
