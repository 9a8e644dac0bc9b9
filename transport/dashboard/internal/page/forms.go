package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// The parts of a form's token.
const (
	tokenField = "csrf"
	padLen     = 16 // bytes that hide the token in a compressed page, which could betray it otherwise (BREACH)
)

// tokenMark is the placeholder for a browser's token in rendered pages, which all browsers share. It is random, so other texts do not contain it.
var tokenMark = "token-" + rand.Text() + rand.Text()

// knowBrowser reads the token of the session, and sets the cookie from which the tokens of this browser's forms are made.
func (s *Site) knowBrowser(w http.ResponseWriter, r *Request) {
	if c, err := r.Cookie(s.cookieName("session")); err == nil && s.cfg.Sessions != nil {
		r.token = c.Value
	}
	if c, err := r.Cookie(s.cookieName("form")); err == nil && len(c.Value) >= 26 && len(c.Value) <= 64 {
		r.form = c.Value
		return
	}
	r.form = rand.Text()
	s.setCookie(w, "form", r.form, 0)
}

// sum returns the MAC that a token of this browser and session must contain.
func (r *Request) sum() []byte {
	mac := hmac.New(sha256.New, []byte(r.form))
	mac.Write([]byte(r.token))
	return mac.Sum(nil)[:padLen]
}

// newToken returns a token for the forms of a page. No two are equal.
func (r *Request) newToken() string {
	var b [2 * padLen]byte
	_, _ = rand.Read(b[:padLen]) // it never fails
	subtle.XORBytes(b[padLen:], b[:padLen], r.sum())
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// checkToken reports whether newToken has made a token for this browser and session.
func (r *Request) checkToken(token string) bool {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != 2*padLen {
		return false
	}
	subtle.XORBytes(b[padLen:], b[:padLen], b[padLen:])
	return hmac.Equal(b[padLen:], r.sum())
}

// partMemory is the part of a form's files that is held in memory, in bytes; the rest is in temporary files until the answer.
const partMemory = 1 << 20

// readForm reads a form and checks its token.
func (s *Site) readForm(w http.ResponseWriter, r *Request, route Route) error {
	most := route.MaxBody
	if most == 0 {
		most = MaxForm
	}
	var err error
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		r.Body = http.MaxBytesReader(w, r.Body, most+route.Files)
		err = r.ParseMultipartForm(partMemory)
	} else {
		r.Body = http.MaxBytesReader(w, r.Body, most)
		err = r.ParseForm()
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || textOf(r.PostForm) > most {
		if route.Files > 0 {
			return callwright.Errorf(callwright.CodePayloadTooLarge, "the form may be at most %s, and its files %s", sizeOf(most), sizeOf(route.Files))
		}
		return callwright.Errorf(callwright.CodePayloadTooLarge, "the form may be at most %s", sizeOf(most))
	}
	if err != nil {
		return callwright.Errorf(callwright.CodeBadRequest, "the form cannot be read").Because(err)
	}
	if err := checkTexts(r.PostForm); err != nil {
		return err
	}
	if !r.checkToken(r.PostForm.Get(tokenField)) {
		return callwright.Errorf(callwright.CodeForbidden, "this form has expired because you have signed in or out: reload the page and try again")
	}
	return nil
}

// textOf returns the size of the names and values of fields, in bytes.
func textOf(fields url.Values) (n int64) {
	for name, values := range fields {
		for _, v := range values {
			n += int64(len(name) + len(v))
		}
	}
	return n
}

// isNoText reports whether no database can store a text: it is not UTF-8, or has NUL characters.
func isNoText(s string) bool { return !utf8.ValidString(s) || strings.Contains(s, "\x00") }

// checkTexts returns CodeBadRequest for the first field whose name or value is no text.
func checkTexts(fields url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isNoText(name) {
			return callwright.Invalid("", "the names of fields must be UTF-8 without NUL characters")
		}
		if slices.ContainsFunc(fields[name], isNoText) {
			return callwright.Invalid(name, "must be UTF-8 without NUL characters")
		}
	}
	return nil
}

// Faults holds the errors of a form by the names of its fields; the empty name stands for the form as a whole.
type Faults map[string]string

// FaultsOf translates an error of a domain to the faults of a form, and reports whether to show the form again: a person can correct
// it there, or send it again later. Other errors are answered with a page of their own. names maps field names of the
// domain to field names of the form, where they differ. With fields, a fault of any other field belongs to the form as a whole.
func FaultsOf(err error, names map[string]string, fields ...string) (Faults, bool) {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || !mendable(e) {
		return nil, false
	}
	field, text := e.Field, e.Message
	if name, ok := names[field]; ok {
		field = name
	}
	if wait, ok := callwright.RetryAfter(err); ok {
		text += ". Try again in " + durationOf(wait)
	}
	if len(fields) > 0 && field != "" && !slices.Contains(fields, field) {
		field, text = "", field+": "+text
	}
	return Faults{field: text}, true
}

// mendable reports whether an error is about the input, or may be gone when the form is sent again.
func mendable(e *callwright.Error) bool {
	switch e.Code {
	case callwright.CodeBadRequest, callwright.CodeConflict, callwright.CodeInvalidState, callwright.CodeUnsupportedMedia,
		callwright.CodePayloadTooLarge, callwright.CodePromotionGateFailed, callwright.CodeCallNotAttached, callwright.CodeTooManyRequests:
		return true
	case callwright.CodeNotFound: // a field names a missing thing
		return e.Field != ""
	case callwright.CodeUnavailable: // a server that is only busy, or that cannot fulfill a field
		return e.Field != "" || e.RetryAfter > 0
	default:
		return false
	}
}
