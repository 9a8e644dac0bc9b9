package sip

import (
	"encoding/base32"
	"encoding/binary"
	"strings"

	"github.com/callwright/callwright"
)

// passwordBytes is how much of a derived password there is: 160 bits are 32 characters.
const passwordBytes = 20

// derive is the password that we register with: an HMAC-SHA256 under the deployment's key over the organization and what
// its owner has given, each with its length before it, in letters and digits that are easily typed. The same input gives
// the same password, and without the key nobody gets from the one to the other.
func (s *Service) derive(org callwright.OrgID, given Credentials) callwright.Secret {
	mac := s.mac()
	for _, part := range []string{"register", string(org), given.Username, given.Password.Reveal()} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	sum := mac.Sum(nil)[:passwordBytes]
	return callwright.Secret(strings.ToLower(base32.StdEncoding.EncodeToString(sum)))
}
