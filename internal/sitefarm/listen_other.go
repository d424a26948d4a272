//go:build !linux

package sitefarm

import (
	"fmt"
	"net"
)

// listen opens the port of one host: other systems have one loopback address.
func listen(hosts int) (net.Listener, error) {
	if hosts > 1 {
		return nil, fmt.Errorf("%d hosts: more than one needs the loopback addresses of Linux", hosts)
	}
	return net.Listen("tcp4", Addr(0).String()+":0")
}
