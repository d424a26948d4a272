package recrawl

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"recrawld/config"
	"recrawld/models"
)

// movedNames is a resolver that notes which names it was told to distrust.
type movedNames struct {
	names
	distrusted atomic.Pointer[string]
}

func (r *movedNames) Distrust(name string) { r.distrusted.Store(&name) }

func TestNameWhoseAddressesAreDeadIsAskedForAnew(t *testing.T) {
	t.Parallel()
	good := listen(t, nil)
	good.Close() // nobody listens there any more
	resolver := &movedNames{names: names{answers: map[string][][]string{"moved.test": {{"127.0.0.1"}}}}}
	_, port, err := net.SplitHostPort(good.Addr())
	if err != nil {
		t.Fatal(err)
	}
	wantFailed(t, newRig(t, resolving(resolver)).fetch("http://moved.test:"+port+"/"), models.ConnRefused)
	if got := resolver.distrusted.Load(); got == nil || *got != "moved.test" {
		t.Errorf("the name distrusted = %v, want moved.test", got)
	}
}

// TestSessionsAreResumed closes the connection after each answer, so that each visit needs a handshake.
func TestSessionsAreResumed(t *testing.T) {
	t.Parallel()
	var resumed atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.DidResume {
			resumed.Add(1)
		}
		w.Header().Set("Connection", "close")
		_, _ = w.Write([]byte("<p>secret"))
	}))
	server.StartTLS()
	t.Cleanup(server.Close)
	r := newRig(t, func(c *Config, _ *config.Settings) {
		c.Roots = x509.NewCertPool()
		c.Roots.AddCert(server.Certificate())
	})
	for range 3 {
		wantBody(t, r.fetch(server.URL+"/"), "<p>secret")
	}
	if n := resumed.Load(); n != 2 {
		t.Errorf("%d of 3 handshakes resumed a session, want the last 2", n)
	}
}
