package recrawl

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"recrawld/models"
)

// fetchError is why an exchange failed, and how far it had come.
type fetchError struct {
	stage int32
	err   error
}

func (e *fetchError) Error() string { return e.err.Error() }
func (e *fetchError) Unwrap() error { return e.err }

// class names the failure. It never returns ClassNone.
func (e *fetchError) class() models.ErrorClass {
	var classed *classedError
	if errors.As(e.err, &classed) {
		return classed.class
	}
	if class, ok := errnoClass(e.err); ok {
		return class
	}
	switch e.stage {
	case stageDial:
		return dialClass(e.err)
	case stageTLS:
		return tlsClass(e.err)
	case stageHeader:
		return headerClass(e.err)
	}
	return e.bodyClass()
}

// bodyClass names a failure after the headers.
func (e *fetchError) bodyClass() models.ErrorClass {
	class, ok := bodyClass(e.err)
	switch {
	case ok:
		return class
	case errors.Is(e.err, io.ErrUnexpectedEOF), errors.Is(e.err, io.EOF):
		return models.BodyShort
	case errors.Is(e.err, errTooSlow), isTimeout(e.err):
		return models.BodySlow
	}
	return models.HTTPProtocol
}

// dialClass names a failure to connect; an error without any better name is ConnOther.
func dialClass(err error) models.ErrorClass {
	var blocked *blockedError
	var classed *classedError
	class, known := errnoClass(err)
	switch {
	case errors.As(err, &classed):
		return classed.class
	case errors.As(err, &blocked):
		return models.BlockedAddress
	case known:
		return class
	case isTimeout(err):
		return models.ConnTimeout
	}
	return models.ConnOther
}

// tlsClass names a failed handshake. A certificate that does not convince is told from a handshake that fails.
func tlsClass(err error) models.ErrorClass {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var hostname x509.HostnameError
	if errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		errors.As(err, &hostname) {
		return models.TLSCertificate
	}
	return models.TLSProtocol
}

// headerClass names a failure between the request and the end of the headers. That the headers are too large is known
// from net/http by its words alone.
func headerClass(err error) models.ErrorClass {
	text := err.Error()
	switch {
	case isTimeout(err):
		return models.HeaderTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return models.ConnReset
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "response header list larger"):
		return models.HeaderTooLarge
	}
	return models.HTTPProtocol
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, errPageTime) || errors.As(err, &timeout) && timeout.Timeout()
}

// addressOf is the address that was dialled, the zero one where the error does not say.
func addressOf(err error) netip.Addr {
	var dialled *net.OpError
	if !errors.As(err, &dialled) || dialled.Addr == nil {
		return netip.Addr{}
	}
	to, _ := netip.ParseAddrPort(dialled.Addr.String()) // the zero one is of no version
	return to.Addr()
}

// errnoClass names what the kernel said, at any stage.
func errnoClass(err error) (class models.ErrorClass, ok bool) {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return models.ClassNone, false
	}
	switch errno {
	case syscall.EADDRNOTAVAIL:
		// To an address of IPv4: no local port is free. To one of IPv6 it may as well be that this machine has no address to ask
		// from, which lasts and must not hold up all other hosts.
		if addressOf(err).Unmap().Is4() {
			return models.OwnLimit, true
		}
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
		return models.OwnLimit, true
	case syscall.ECONNREFUSED:
		return models.ConnRefused, true
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return models.ConnReset, true
	case syscall.ETIMEDOUT:
		return models.ConnTimeout, true
	}
	return models.ConnOther, true
}
