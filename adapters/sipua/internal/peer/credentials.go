package peer

import (
	"crypto/tls"
	"crypto/x509"
)

// Credentials returns at least one certificate for the next handshake, and the roots that verify the certificates of peers. Nil roots mean
// the system's. It is called for each handshake, so that both can be renewed while connections stay open.
type Credentials func() ([]tls.Certificate, *x509.CertPool)

// Fixed returns Credentials that always return the same certificates and roots.
func Fixed(certificates []tls.Certificate, roots *x509.CertPool) Credentials {
	return func() ([]tls.Certificate, *x509.CertPool) { return certificates, roots }
}

// Server returns the TLS configuration of a server. The server requests a certificate of its callers but does not require it: see Names.
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
			return &certificates[0], nil // as crypto/tls does; the client then reports why the certificate is unsuitable
		},
	}
}

// Names returns the DNS names in a peer's certificate. It returns nil if the peer has sent no certificate, or the certificate does not
// chain to a root.
func (c Credentials) Names(state tls.ConnectionState) []string {
	_, roots := c()
	if len(state.PeerCertificates) == 0 || VerifyChain(state, roots) != nil {
		return nil
	}
	return state.PeerCertificates[0].DNSNames
}

// show implements tls.Config.GetClientCertificate for a client.
func (c Credentials) show(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	certificates, _ := c()
	for i := range certificates {
		if asked.SupportsCertificate(&certificates[i]) == nil {
			return &certificates[i], nil
		}
	}
	return new(tls.Certificate), nil // sends no certificate
}

// chain implements tls.Config.VerifyConnection for a client that does not check the name in the certificate.
func (c Credentials) chain(state tls.ConnectionState) error {
	_, roots := c()
	return refused(state, VerifyChain(state, roots))
}

// full returns a tls.Config.VerifyConnection for a client that requires the certificate to name host.
func (c Credentials) full(host string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		_, roots := c()
		err := VerifyChain(state, roots)
		if err == nil {
			err = state.PeerCertificates[0].VerifyHostname(host) // always fails for an empty host
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
