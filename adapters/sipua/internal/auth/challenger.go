package auth

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
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
)

const (
	nonceLife  = time.Minute
	maxUsed    = 100_000 // maximum number of used nonces in each of the two tables
	maxAnswers = 8       // maximum number of Authorization headers that are checked
)

// Challenger authenticates callers (RFC 3261, section 22; RFC 8760). A nonce contains its time and a signature of that time and the source,
// so that an unanswered challenge needs no state. It is safe for concurrent use.
type Challenger struct {
	realm string
	key   [32]byte
	now   func() time.Time

	mu           sync.Mutex
	used, before map[string]int // highest accepted nonce count by nonce, in this period and the one before
	since        time.Time      // start of the period of used
}

// Result is the result of checking an INVITE's credentials.
type Result int

// The possible results of Challenger.Check.
const (
	None  Result = iota // the request contains no credentials for our realm
	Stale               // the nonce is not ours, was already used, or has expired, or too many nonces are in use
	Wrong               // the nonce is ours, but the username, password or number is wrong
	OK
)

// NewChallenger returns a challenger for a realm that signs its nonces with a random key. Nonces of other processes are therefore stale.
func NewChallenger(realm string, now func() time.Time) *Challenger {
	c := &Challenger{realm: realm, now: now, used: map[string]int{}, since: now()}
	_, _ = rand.Read(c.key[:]) // never fails
	return c
}

// Challenge returns a 401 with a new nonce for a source, the stronger algorithm first (RFC 8760, section 2.4). If isStale is set, the
// client should retry with the same credentials.
func (c *Challenger) Challenge(source netip.Addr, isStale bool) *message.Refusal {
	r := &message.Refusal{Status: sip.StatusUnauthorized}
	nonce := c.nonce(source)
	for _, algorithm := range []string{"SHA-256", "MD5"} {
		ask := digest.Challenge{Realm: c.realm, Nonce: nonce, Algorithm: algorithm, QOP: []string{"auth"}, Stale: isStale}
		r.Headers = append(r.Headers, sip.NewHeader("WWW-Authenticate", ask.String()))
	}
	return r
}

// Check returns the result of checking the credentials in a request to a number. It ignores credentials for other realms, because they are
// for proxies on the path. A request may guess only one password: after wrong credentials for our realm with a valid nonce, Check tries no
// others (RFC 3261, 22.3). Credentials with any other nonce are Stale, and their password is not checked (RFC 7616, 3.3). Correct
// credentials are also Stale if they were used before, or if too many nonces are in use.
func (c *Challenger) Check(
	req *sip.Request, to callwright.PhoneNumber, source netip.Addr, with trunk.Credentials,
) Result {
	result := None
	headers := req.GetHeaders("Authorization")
	for _, h := range headers[:min(len(headers), maxAnswers)] {
		if !digest.IsDigest(h.Value()) {
			continue
		}
		answer, err := digest.ParseCredentials(h.Value())
		switch {
		case err != nil, answer.Realm != c.realm:
		case !c.fresh(answer.Nonce, source):
			result = Stale
		case !correct(answer, string(req.Method), to, with):
			return Wrong
		case c.use(answer.Nonce, answer.Nc):
			return OK
		default:
			result = Stale
		}
	}
	return result
}

// correct reports whether an answer was computed from the credentials for a call to a number.
func correct(a *digest.Credentials, method string, to callwright.PhoneNumber, with trunk.Credentials) bool {
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

// names reports whether a digest-uri may belong to a call to a number. Proxies change the host and parameters of the Request-URI, and some
// peers use the URI of To. Therefore names compares only the number, and accepts a URI without a user part. A URI that is invalid or
// contains no phone number is a mismatch, too.
func names(text string, to callwright.PhoneNumber) bool {
	var u sip.Uri
	if text == "" || sip.ParseUri(text, &u) != nil {
		return false
	}
	if u.User == "" && u.Scheme != "tel" {
		return true
	}
	n, err := message.Number(&u)
	return err == nil && n == to
}

// same returns 1 if two texts are equal, and 0 otherwise. Its duration does not depend on their contents.
func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}

// nonce returns a new nonce: the time and random bytes, with a signature for a source.
func (c *Challenger) nonce(source netip.Addr) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.now().UnixNano()))
	b = append(b, make([]byte, 8)...)
	_, _ = rand.Read(b[8:])
	return base64.RawURLEncoding.EncodeToString(c.sign(b, source))
}

// sign appends the signature of a nonce's bytes and a source to the bytes.
func (c *Challenger) sign(b []byte, source netip.Addr) []byte {
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write(b)
	address := source.As16()
	mac.Write(address[:])
	return mac.Sum(b)
}

// fresh reports whether this challenger has issued a nonce for a source within the last minute.
func (c *Challenger) fresh(nonce string, source netip.Addr) bool {
	const signed = 16 // number of bytes before the signature
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != signed+sha256.Size || !hmac.Equal(b, c.sign(b[:signed:signed], source)) {
		return false
	}
	age := c.now().Sub(time.Unix(0, int64(binary.BigEndian.Uint64(b))))
	return age >= 0 && age < nonceLife
}

// use records that a nonce was used with a count (nc). It returns false if that count or a higher one was used before, or if the table of
// nonces is full.
func (c *Challenger) use(nonce string, count int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.since) >= nonceLife {
		c.used, c.before, c.since = map[string]int{}, c.used, now
	}
	if count <= max(c.used[nonce], c.before[nonce]) || len(c.used) >= maxUsed {
		return false
	}
	c.used[nonce] = count
	return true
}
