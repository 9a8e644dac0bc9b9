package sipua

import (
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	trunk "github.com/callwright/callwright/sip"
)

// strength orders the algorithms of RFC 8760, the strongest last. An unknown one is 0.
var strength = map[string]int{"": 1, "MD5": 1, "SHA-256": 2, "SHA-512-256": 3}

// challenge is a digest challenge that we can meet.
type challenge struct {
	digest.Challenge
	header string // of the answer to it
}

// strongest picks, of the challenges in a 401 or 407, the one with the strongest algorithm that we know; a peer lists
// them in its own order. Nil when there is none.
func strongest(res *sip.Response) *challenge {
	ask, reply := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		ask, reply = "Proxy-Authenticate", "Proxy-Authorization"
	}
	var best *challenge
	for _, h := range res.GetHeaders(ask) {
		c, err := digest.ParseChallenge(h.Value())
		if err != nil {
			continue
		}
		c.Algorithm = strings.ToUpper(c.Algorithm)
		if strength[c.Algorithm] == 0 || len(c.QOP) > 0 && !c.SupportsQOP("auth") {
			continue
		}
		if best == nil || strength[c.Algorithm] > strength[best.Algorithm] {
			best = &challenge{Challenge: *c, header: reply}
		}
	}
	return best
}

// authorize answers a challenge in a request.
func (c *challenge) authorize(req *sip.Request, with trunk.Credentials) error {
	answer, err := digest.Digest(&c.Challenge, digest.Options{
		Method: string(req.Method), URI: req.Recipient.String(), Count: 1,
		Username: with.Username, Password: with.Password.Reveal(),
	})
	if err != nil {
		return err
	}
	req.AppendHeader(sip.NewHeader(c.header, answer.String()))
	return nil
}
