package auth

import (
	"bytes"
	"io"
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	trunk "github.com/callwright/callwright/sip"
)

// strength orders the algorithms of RFC 8760, the strongest last. Unknown algorithms are 0.
var strength = map[string]int{"": 1, "MD5": 1, "SHA-256": 2, "SHA-512-256": 3}

// maxRealms bounds the realms that one request has credentials for.
const maxRealms = 5

// Answers are the credentials of one request, which is repeated with one more answer for each server or proxy on its way
// that challenges it (RFC 3261, 22.2 and 22.3). The zero value has none.
type Answers struct{ all []challenge }

// challenge is the challenge of a realm, and the last one that we answer there.
type challenge struct {
	digest.Challenge

	header string // of the answer: Authorization or Proxy-Authorization
	source string // the address that asks
}

// headers maps the headers with challenges to those with the answers.
var headers = map[string]string{"WWW-Authenticate": "Authorization", "Proxy-Authenticate": "Proxy-Authorization"}

// Add adds the challenges of a 401 or 407. It returns true if the request may be repeated: a realm challenges it for the
// first time, from another address, or because the nonce has become stale. All other repeated challenges mean that the
// credentials are wrong.
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

// strongest returns each realm's challenge with the strongest algorithm that we know, in any order of the peer's list.
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

// Authorize adds all answers to a request whose body is set: a challenge may ask for its integrity, too (auth-int).
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
