package sipua

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
)

const (
	nonceLife  = time.Minute
	maxSpent   = 100_000 // nonces that were answered within their life
	maxAnswers = 8       // Authorization headers that are looked at
)

// challenger makes callers prove who they are (RFC 3261, section 22; RFC 8760). A nonce proves by itself where and when
// it was given out, so a challenge that nobody answers costs nothing.
type challenger struct {
	realm string
	key   [32]byte
	now   func() time.Time

	mu             sync.Mutex
	spent, earlier map[string]int // the highest nonce count of a nonce that was answered rightly
	since          time.Time      // of spent
}

// verdict is what the answers to a challenge are worth, the best last.
type verdict int

const (
	unanswered verdict = iota
	wrong
	stale // right, but the nonce is not good (any more)
	right
)

func newChallenger(realm string, now func() time.Time) *challenger {
	c := &challenger{realm: realm, now: now, spent: map[string]int{}, since: now()}
	_, _ = rand.Read(c.key[:]) // it never fails
	return c
}

// challenge is the refusal that asks for proof, with the stronger algorithm first (RFC 8760, section 2.4).
func (c *challenger) challenge(source netip.Addr, isStale bool) *refusal {
	r := &refusal{status: sip.StatusUnauthorized}
	nonce := c.nonce(source)
	for _, algorithm := range []string{"SHA-256", "MD5"} {
		ask := digest.Challenge{Realm: c.realm, Nonce: nonce, Algorithm: algorithm, QOP: []string{"auth"}, Stale: isStale}
		r.headers = append(r.headers, sip.NewHeader("WWW-Authenticate", ask.String()))
	}
	return r
}

// judge reads the answers in a request for a number. Those to other realms are for servers on the way.
func (c *challenger) judge(
	req *sip.Request, to callwright.PhoneNumber, source netip.Addr, with trunk.Credentials,
) verdict {
	best := unanswered
	headers := req.GetHeaders("Authorization")
	for _, h := range headers[:min(len(headers), maxAnswers)] {
		if !digest.IsDigest(h.Value()) {
			continue
		}
		answer, err := digest.ParseCredentials(h.Value())
		switch {
		case err != nil:
			best = max(best, wrong)
		case answer.Realm != c.realm:
		case !answers(answer, string(req.Method), to, with):
			best = max(best, wrong)
		case c.fresh(answer.Nonce, source) && c.spend(answer.Nonce, answer.Nc):
			return right
		default:
			best = max(best, stale)
		}
	}
	return best
}

// answers says whether somebody who knows the credentials has made an answer, for a call to that number.
func answers(a *digest.Credentials, method string, to callwright.PhoneNumber, with trunk.Credentials) bool {
	switch strings.ToUpper(a.Algorithm) {
	case "", "MD5", "SHA-256":
	default:
		return false
	}
	if a.QOP != "auth" || a.Nc < 1 || a.Cnonce == "" || !names(a.URI, to) {
		return false
	}
	expected, err := digest.Digest(
		&digest.Challenge{Realm: a.Realm, Nonce: a.Nonce, Algorithm: a.Algorithm, QOP: []string{a.QOP}},
		digest.Options{
			Method: method, URI: a.URI, Count: a.Nc, Cnonce: a.Cnonce,
			Username: with.Username, Password: with.Password.Reveal(),
		})
	if err != nil {
		return false
	}
	return same(a.Username, with.Username)&same(strings.ToLower(a.Response), expected.Response) == 1
}

// names says whether a digest-uri is for a call to a number. Proxies change the Request-URI's host and parameters, and
// some peers write the one of To, so only a number that is another one counts against it.
func names(text string, to callwright.PhoneNumber) bool {
	var u sip.Uri
	if text == "" || sip.ParseUri(text, &u) != nil {
		return false
	}
	if u.User == "" && u.Scheme != "tel" {
		return true
	}
	n, err := numberIn(&u)
	return err == nil && n == to
}

// same compares in a time that tells nothing, not even a length.
func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}

// nonce is the time, something random, and what proves both for a source.
func (c *challenger) nonce(source netip.Addr) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.now().UnixNano()))
	b = append(b, make([]byte, 8)...)
	_, _ = rand.Read(b[8:])
	return base64.RawURLEncoding.EncodeToString(c.sign(b, source))
}

// sign appends the proof of what a nonce says.
func (c *challenger) sign(b []byte, source netip.Addr) []byte {
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write(b)
	address := source.As16()
	mac.Write(address[:])
	return mac.Sum(b)
}

// fresh says whether a nonce is ours, for that source, and not too old.
func (c *challenger) fresh(nonce string, source netip.Addr) bool {
	const said = 16 // bytes before the proof
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != said+sha256.Size || !hmac.Equal(b, c.sign(b[:said:said], source)) {
		return false
	}
	age := c.now().Sub(time.Unix(0, int64(binary.BigEndian.Uint64(b))))
	return age >= 0 && age < nonceLife
}

// spend uses a nonce up to a count. False says that it was used so far already.
func (c *challenger) spend(nonce string, count int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.since) >= nonceLife {
		c.spent, c.earlier, c.since = map[string]int{}, c.spent, now
	}
	if count <= max(c.spent[nonce], c.earlier[nonce]) || len(c.spent) >= maxSpent {
		return false
	}
	c.spent[nonce] = count
	return true
}
