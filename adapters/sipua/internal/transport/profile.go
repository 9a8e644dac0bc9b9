package transport

import (
	"crypto/tls"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
)

// Profile is the verification of a server's certificate: the mode and the expected host.
type Profile struct {
	Verify trunk.TLSVerification
	Host   string
}

// NewProfile returns the profile of a trunk's server. An unknown verification is a full one.
func NewProfile(verify trunk.TLSVerification, host string) Profile {
	if verify != trunk.VerifyChain && verify != trunk.VerifyNone {
		verify = trunk.VerifyFull
	}
	return Profile{Verify: verify, Host: host}
}

// String describes the verification of a server's certificate, human-readable. A connection exists only after success.
func (p Profile) String() string {
	switch p.Verify {
	case trunk.VerifyNone:
		return "certificate not verified (none)"
	case trunk.VerifyChain:
		return "certificate verified (chain): a root that we trust; its name was not checked"
	default:
		return "certificate verified (full): a root that we trust, and the name " + p.Host
	}
}

// Version returns the name of a connection's TLS version; empty without a connection.
func Version(s tls.ConnectionState) string {
	if s.Version == 0 {
		return ""
	}
	return tls.VersionName(s.Version)
}

// Security describes the encryption of a connection, human-readable.
func Security(s tls.ConnectionState) string {
	if s.Version == 0 {
		return message.Transport
	}
	return tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite)
}
