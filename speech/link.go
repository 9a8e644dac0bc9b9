package speech

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Link is a signed reference to the audio of a sample. Until it expires, it gives access without an API key.
type Link struct {
	Sample    string
	Expires   time.Time // truncated to seconds
	Signature string    // of letters, digits, ".", "-" and "_"
}

// Link returns a link to the audio of a sample that expires after Config.LinkFor.
func (s *Service) Link(sample Sample) Link {
	l := Link{Sample: sample.ID, Expires: s.cfg.Clock.Now().Add(s.cfg.LinkFor).Truncate(time.Second).UTC()}
	l.Signature = s.sign(sample.Org, l)
	return l
}

// sign returns the signature of a link: the encoded organization, followed by a MAC of the organization, the sample and the expiry.
func (s *Service) sign(org callwright.OrgID, l Link) string {
	mac := s.mac()
	_, _ = fmt.Fprintf(mac, "%q %q %d", org, l.Sample, l.Expires.Unix()) // writing to a hash never fails
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(org)) + "." + encode(mac.Sum(nil))
}

// Linked opens the audio of a link. It returns CodeNotFound if the link was changed or has expired, or if the sample was deleted.
func (s *Service) Linked(ctx context.Context, l Link) (Audio, error) {
	first, _, _ := strings.Cut(l.Signature, ".")
	org, err := base64.RawURLEncoding.DecodeString(first)
	signed := err == nil && hmac.Equal([]byte(l.Signature), []byte(s.sign(callwright.OrgID(org), l)))
	if !signed || !s.cfg.Clock.Now().Before(l.Expires) {
		return Audio{}, callwright.Errorf(callwright.CodeNotFound, "this link was changed or has expired: get the sample again for a new one")
	}
	return s.Audio(ctx, callwright.OrgID(org), l.Sample)
}
