package peer

import (
	"crypto/tls"
	"crypto/x509"
)

// Credentials returns the certificates that the next handshake shows, at least one, and the roots of peers' certificates; nil: the
// system's. It is called at each handshake, so that both can be renewed while connections stay open.
type Credentials func() ([]tls.Certificate, *x509.CertPool)

// Fixed returns credentials that never change.
func Fixed(certificates []tls.Certificate, roots *x509.CertPool) Credentials {
	return func() ([]tls.Certificate, *x509.CertPool) { return certificates, roots }
}

// Server returns a server's TLS configuration. It asks callers for a certificate, which is optional: see Names.
func (c Credentials) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			certificates, _ := c()
			for i := range certificates {
				if hello.SupportsCertificate(&certificates[i]) == nil {
					return &certificates[i], nil
				}
			}
			return &certificates[0], nil // as crypto/tls does: the client reports its fault
		},
	}
}

// Names returns the names of the certificate that a peer has shown, if it chains to a root; nil for any other one.
func (c Credentials) Names(state tls.ConnectionState) []string {
	_, roots := c()
	if len(state.PeerCertificates) == 0 || VerifyChain(state, roots) != nil {
		return nil
	}
	return state.PeerCertificates[0].DNSNames
}

// show is a client's tls.Config.GetClientCertificate.
func (c Credentials) show(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	certificates, _ := c()
	for i := range certificates {
		if asked.SupportsCertificate(&certificates[i]) == nil {
			return &certificates[i], nil
		}
	}
	return new(tls.Certificate), nil // none
}

// chain is a client's tls.Config.VerifyConnection that ignores the certificate's name.
func (c Credentials) chain(state tls.ConnectionState) error {
	_, roots := c()
	return refused(state, VerifyChain(state, roots))
}

// full returns a client's tls.Config.VerifyConnection that wants the certificate to name a host.
func (c Credentials) full(host string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		_, roots := c()
		err := VerifyChain(state, roots)
		if err == nil {
			err = state.PeerCertificates[0].VerifyHostname(host) // which an empty host never passes
		}
		return refused(state, err)
	}
}

func refused(state tls.ConnectionState, err error) error {
	if err == nil {
		return nil
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
}
