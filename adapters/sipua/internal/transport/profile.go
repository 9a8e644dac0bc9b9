package transport

import (
	"crypto/tls"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
)

// Profile describes how a server's certificate is verified: the mode and the expected host.
type Profile struct {
	Verify trunk.TLSVerification
	Host   string
}

// NewProfile returns the profile for a trunk's server. An empty or unknown verify means full verification.
func NewProfile(verify trunk.TLSVerification, host string) Profile {
	if verify != trunk.VerifyChain && verify != trunk.VerifyNone {
		verify = trunk.VerifyFull
	}
	return Profile{Verify: verify, Host: host}
}

// String describes the successful verification of a server's certificate in a readable text.
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

// Version returns the name of a connection's TLS version, or an empty text for the zero state.
func Version(s tls.ConnectionState) string {
	if s.Version == 0 {
		return ""
	}
	return tls.VersionName(s.Version)
}

// Security returns the TLS version and the cipher suite of a connection, or "TLS" for the zero state.
func Security(s tls.ConnectionState) string {
	if s.Version == 0 {
		return message.Transport
	}
	return tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite)
}
