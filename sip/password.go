package sip

import (
	"encoding/base32"
	"encoding/binary"
	"strings"

	"github.com/callwright/callwright"
)

// passwordBytes is the length of a derived password before its encoding: 160 bits are 32 characters.
const passwordBytes = 20

// derive returns the password of a registration: an HMAC-SHA256 under the deployment's key over the organization and the given
// credentials, each prefixed with its length, in letters and digits. The same input gives the same password; without the key
// neither one reveals the other.
func (s *Service) derive(org callwright.OrgID, given Credentials) callwright.Secret {
	mac := s.mac()
	for _, part := range []string{"register", string(org), given.Username, given.Password.Reveal()} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	sum := mac.Sum(nil)[:passwordBytes]
	return callwright.Secret(strings.ToLower(base32.StdEncoding.EncodeToString(sum)))
}
