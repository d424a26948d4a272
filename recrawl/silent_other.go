//go:build !unix

package recrawl

import "net"

// silent tells whether there is nothing to read from a connection, as far as can be asked here without reading.
func silent(net.Conn) bool { return true }
