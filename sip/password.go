package sip

import (
	"encoding/base32"
	"encoding/binary"
	"strings"

	"github.com/callwright/callwright"
)

// passwordBytes is the length in bytes of a derived password before its encoding: 160 bits become 32 characters.
const passwordBytes = 20

// derive returns the password of a registration: a truncated HMAC-SHA256 with Config.DerivationKey over the organization and the given
// credentials, each preceded by its length, encoded in letters and digits. The same input yields the same password. Without the key,
// neither the given nor the derived password reveals the other.
func (s *Service) derive(org callwright.OrgID, given Credentials) callwright.Secret {
	mac := s.mac()
	for _, part := range []string{"register", string(org), given.Username, given.Password.Reveal()} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	sum := mac.Sum(nil)[:passwordBytes]
	return callwright.Secret(strings.ToLower(base32.StdEncoding.EncodeToString(sum)))
}
