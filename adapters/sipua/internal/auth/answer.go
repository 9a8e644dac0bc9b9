package auth

import (
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	trunk "github.com/callwright/callwright/sip"
)

// strength orders the algorithms of RFC 8760, the strongest last. Unknown algorithms are 0.
var strength = map[string]int{"": 1, "MD5": 1, "SHA-256": 2, "SHA-512-256": 3}

// Challenge is a digest challenge that we can answer.
type Challenge struct {
	digest.Challenge
	Header string // that the answer stands in: Authorization or Proxy-Authorization
}

// Strongest returns the challenge of a 401 or 407 with the strongest algorithm that we know, whatever order the peer lists
// them in; nil when there is none.
func Strongest(res *sip.Response) *Challenge {
	ask, reply := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		ask, reply = "Proxy-Authenticate", "Proxy-Authorization"
	}
	var best *Challenge
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
			best = &Challenge{Challenge: *c, Header: reply}
		}
	}
	return best
}

// Authorize adds the answer to the challenge to a request.
func (c *Challenge) Authorize(req *sip.Request, with trunk.Credentials) error {
	answer, err := digest.Digest(&c.Challenge, digest.Options{
		Method: string(req.Method), URI: req.Recipient.String(), Count: 1,
		Username: with.Username, Password: with.Password.Reveal(),
	})
	if err != nil {
		return err
	}
	req.AppendHeader(sip.NewHeader(c.Header, answer.String()))
	return nil
}
