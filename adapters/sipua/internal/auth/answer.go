package auth

import (
	"bytes"
	"io"
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	trunk "github.com/callwright/callwright/sip"
)

// strength ranks the algorithms of RFC 8760; a higher number is stronger. Unknown algorithms have rank 0.
var strength = map[string]int{"": 1, "MD5": 1, "SHA-256": 2, "SHA-512-256": 3}

// maxRealms is the maximum number of challenges that a request answers, counted by header and realm.
const maxRealms = 5

// Answers holds the challenges that one request answers. The request is repeated with another answer for each proxy or server on its path
// that challenges it (RFC 3261, 22.2 and 22.3). The zero value contains no challenges.
type Answers struct{ all []challenge }

// challenge is the last challenge received for a realm.
type challenge struct {
	digest.Challenge

	header string // for the answer: Authorization or Proxy-Authorization
	source string // address that sent the challenge
}

// headers maps the names of headers with challenges to the names of headers with answers.
var headers = map[string]string{"WWW-Authenticate": "Authorization", "Proxy-Authenticate": "Proxy-Authorization"}

// Add adds the challenges of a 401 or 407, and reports whether the request may be repeated. It may be repeated if a challenge is the
// realm's first, comes from another address, or reports a stale nonce. Any other repeated challenge means that the credentials are wrong.
// Challenges of new realms beyond maxRealms are ignored.
func (a *Answers) Add(res *sip.Response) (answerable bool) {
	for ask, reply := range headers {
		for _, c := range strongest(res.GetHeaders(ask)) {
			c.header, c.source = reply, res.Source()
			answerable = a.add(c) || answerable
		}
	}
	return answerable
}

func (a *Answers) add(c challenge) bool {
	for i, known := range a.all {
		if known.header == c.header && known.Realm == c.Realm {
			a.all[i] = c
			return c.Stale || known.source != c.source
		}
	}
	if len(a.all) == maxRealms {
		return false
	}
	a.all = append(a.all, c)
	return true
}

// strongest returns, by realm, the challenge with the strongest supported algorithm, regardless of the order of the headers.
func strongest(asks []sip.Header) map[string]challenge {
	best := map[string]challenge{}
	for _, h := range asks {
		c, err := digest.ParseChallenge(h.Value())
		if err != nil {
			continue
		}
		c.Algorithm = strings.ToUpper(c.Algorithm)
		for i, qop := range c.QOP {
			c.QOP[i] = strings.ToLower(strings.TrimSpace(qop))
		}
		if strength[c.Algorithm] == 0 || len(c.QOP) > 0 && !c.SupportsQOP("auth") && !c.SupportsQOP("auth-int") {
			continue
		}
		if was, ok := best[c.Realm]; !ok || strength[c.Algorithm] > strength[was.Algorithm] {
			best[c.Realm] = challenge{Challenge: *c}
		}
	}
	return best
}

// Authorize adds to a request the headers that answer all challenges. The body must already be set, because a challenge may require a hash
// of it (auth-int).
func (a *Answers) Authorize(req *sip.Request, with trunk.Credentials) error {
	for _, c := range a.all {
		answer, err := digest.Digest(&c.Challenge, digest.Options{
			Method: string(req.Method), URI: req.Recipient.String(), Count: 1,
			Username: with.Username, Password: with.Password.Reveal(),
			GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body())), nil },
		})
		if err != nil {
			return err
		}
		req.AppendHeader(sip.NewHeader(c.header, answer.String()))
	}
	return nil
}
