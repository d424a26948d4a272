package recrawl

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// A receiver inside is dialled only where its configuration says so, whatever name leads there; and what clouds give their keys away at
// is never.
func TestFault_114_ReceiversInsideNeedPermission(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := netip.MustParseAddrPort(listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		address := strings.Replace(at.String(), "127.0.0.1", host, 1)
		if conn, err := DialReceiver(at.Port(), false)(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "private: on") {
			t.Errorf("%s: %v, %v; want a refusal that names the way out", address, conn, err)
		}
		conn, err := DialReceiver(at.Port(), true)(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("%s, allowed: %v", address, err)
			continue
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, address := range []string{"169.254.169.254:80", "[fe80::1%lo]:80", "[fe80::1]:80", "0.0.0.0:80", "224.0.0.1:80", "192.0.2.1:80"} {
		if _, err := DialReceiver(80, false)(t.Context(), "tcp", address); err == nil || strings.Contains(err.Error(), "private: on") {
			t.Errorf("%s: %v; want a refusal that names no way out, since there is none", address, err)
		}
		if conn, err := DialReceiver(80, true)(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "is not dialled") {
			t.Errorf("%s: %v, %v; want a refusal", address, conn, err)
		}
	}
	for _, address := range []string{"10.0.0.1:80", "192.168.1.1:80", "172.16.0.1:80", "100.64.0.1:80", "[::1]:80", "[fd00::1]:80", "1.1.1.1:81"} {
		if conn, err := DialReceiver(80, false)(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "is not dialled") {
			t.Errorf("%s: %v, %v; want a refusal", address, conn, err)
		}
	}
}
