package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// letter starts a port request, and returns its id and the path of its signing page.
func (h *house) letter(number string) (id, path string) {
	h.t.Helper()
	started := at(h.t, h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody(number)), "data")
	id, _ = at(h.t, started, "port_request_id").(string)
	address, _ := at(h.t, started, "signature_url").(string)
	return id, must(url.Parse(address)).Path
}

// browse makes a request as a browser does, and checks the headers that all pages have in common.
func (h *house) browse(method, path string, form url.Values) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, strings.NewReader(form.Encode()))
	r.Header.Set("User-Agent", "Browser/1.0")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"X-Frame-Options": "DENY",
	} {
		if got := answer.Header().Get(name); got != want {
			h.t.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
		}
	}
	if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") {
		h.t.Errorf("%s %s: the policy is %q", method, path, policy)
	}
	return answer
}

// wantPage checks that an answer is a page with a status and texts, and returns the page.
func (h *house) wantPage(answer *httptest.ResponseRecorder, status int, texts ...string) string {
	h.t.Helper()
	page := answer.Body.String()
	if answer.Code != status || answer.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		h.t.Fatalf("got %d %s %s, want %d", answer.Code, answer.Header().Get("Content-Type"), page, status)
	}
	for _, text := range texts {
		if !strings.Contains(page, text) {
			h.t.Errorf("the page lacks %q: %s", text, page)
		}
	}
	return page
}

// signature returns the completed form of a signing page, or nil if the page has no form.
func signature(page string) url.Values {
	hash := regexp.MustCompile(`name="letter_sha256" value="([0-9a-f]{64})"`).FindStringSubmatch(page)
	if hash == nil {
		return nil
	}
	return url.Values{
		"decision": {"sign"}, "signer_name": {"robin  DOE"}, "signer_title": {"Owner"}, "consent": {"yes"}, "authority": {"yes"}, "letter_sha256": {hash[1]},
	}
}

// evidence requests the evidence of a letter's signature.
func (h *house) evidence(id string) (e loa.Evidence) {
	h.t.Helper()
	text := must(json.Marshal(at(h.t, h.want(http.StatusOK, "GET", "/v1/sip/port/"+id+"/letter", ""), "data", "evidence")))
	if err := json.Unmarshal(text, &e); err != nil {
		h.t.Fatal(err)
	}
	return e
}

func TestLetterIsSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, path := h.letter("+14155550100")
	page := h.wantPage(h.browse("GET", path, nil), http.StatusOK, "<html lang=\"en\">", "Sign the letter of authorization", "14155550100</li>", "Acme Bakery",
		`<label for="signer_name">`, `<label for="signer_title">`, `<label for="consent">`, `<label for="authority">`, `<label for="reason">`,
		`id="sign-button"`, `id="decline-button"`, `href="`+strings.TrimPrefix(path, "/loa/")+`/letter.pdf"`, "Consent to electronic records")
	for range 3 {
		if answer := h.browse("HEAD", path, nil); answer.Code != http.StatusOK {
			t.Errorf("HEAD: %d", answer.Code)
		}
	}
	if before := h.evidence(id); len(before.Events) != 1 {
		t.Errorf("reading leaves a trace: %+v", before.Events)
	}
	unsigned := h.browse("GET", path+"/letter.pdf", nil)
	if unsigned.Code != http.StatusOK || unsigned.Header().Get("Content-Disposition") != `attachment; filename="letter-of-authorization.pdf"` || !strings.HasPrefix(unsigned.Body.String(), "%PDF-") {
		t.Errorf("the letter: %d %v", unsigned.Code, unsigned.Header())
	}
	h.wantPage(h.browse("POST", path, signature(page)), http.StatusOK, "The letter is signed", "Download the signed letter")
	record := h.portRequest(id)
	if at(t, record, "status") != "submitted" || at(t, record, "signed_at") == nil || at(t, record, "history", 1, "actor") != "signer" {
		t.Errorf("the request: %v", record)
	}
	signed := h.browse("GET", path+"/letter.pdf", nil)
	if signed.Header().Get("Content-Disposition") != `attachment; filename="letter-of-authorization-signed.pdf"` || signed.Header().Get("Content-Type") != "application/pdf" {
		t.Errorf("the signed letter: %v", signed.Header())
	}
	e := h.evidence(id)
	if err := loa.Verify(e, unsigned.Body.Bytes(), signed.Body.Bytes()); err != nil {
		t.Error(err)
	}
	for _, event := range e.Events {
		if event.Kind == loa.EventSigned && (event.Name != "robin DOE" || event.Title != "Owner" || event.Origin != loa.Origin{IP: "192.0.2.1", UserAgent: "Browser/1.0"}) {
			t.Errorf("the signature: %+v", event)
		}
	}
	own := h.do("GET", "/v1/sip/port/"+id+"/letter.pdf", "")
	if own.Code != http.StatusOK || own.Body.String() != signed.Body.String() || own.Header().Get("Content-Disposition") != signed.Header().Get("Content-Disposition") {
		t.Errorf("the organization's copy: %d %v", own.Code, own.Header())
	}
	letter := at(t, h.want(http.StatusOK, "GET", "/v1/sip/port/"+id+"/letter", ""), "data", "letter")
	if sum := sha256.Sum256(signed.Body.Bytes()); at(t, letter, "state") != "signed" || at(t, letter, "signed_sha256") != hex.EncodeToString(sum[:]) {
		t.Errorf("the letter: %v", letter)
	}
	h.wantPage(h.browse("GET", path, nil), http.StatusOK, "The letter is signed")
	h.wantPage(h.browse("POST", path, signature(page)), http.StatusOK, "The letter is signed")
	h.wantPage(h.browse("POST", path, url.Values{"decision": {"decline"}}), http.StatusOK, "signed before it was declined")
}

func TestLetterIsDeclined(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, path := h.letter("+14155550100")
	h.wantPage(h.browse("POST", path, url.Values{"decision": {"decline"}, "reason": {"Not\r\nus."}}), http.StatusOK, "The letter was declined")
	record := h.portRequest(id)
	if at(t, record, "status") != "canceled" || at(t, record, "failure_code") != "loa_declined" || at(t, record, "history", 1, "note") != "Not\nus." {
		t.Errorf("the request: %v", record)
	}
	page := h.wantPage(h.browse("GET", path, nil), http.StatusGone, "The letter was declined")
	if strings.Contains(page, "<form") {
		t.Error("a letter that was declined can be signed")
	}
	h.wantPage(h.browse("POST", path, url.Values{"decision": {"sign"}}), http.StatusGone, "The letter was declined")
}

func TestMistakesOfSigners(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, path := h.letter("+14155550100")
	whole := signature(h.browse("GET", path, nil).Body.String())
	for name, c := range map[string]struct {
		change  func(url.Values)
		texts   []string
		without string
	}{
		"another name": {
			func(v url.Values) { v.Set("signer_name", `Eve "><script>`) },
			[]string{
				"Error: Sign the letter", `role="alert"`, `href="#signer_name"`, `id="signer_name-error"`, `value="Eve &#34;&gt;&lt;script&gt;"`, `value="Owner"`,
				`id="consent" name="consent" value="yes" required checked`, "must be the name of the authorized representative",
			}, "<script",
		},
		"nothing":        {func(v url.Values) { v.Del("consent"); v.Del("authority") }, []string{`href="#consent"`, `href="#authority"`, `value="robin  DOE"`}, "checked"},
		"another letter": {func(v url.Values) { v.Set("letter_sha256", "0") }, []string{"has changed since this page was made", whole.Get("letter_sha256")}, ""},
		"a long title":   {func(v url.Values) { v.Set("signer_title", strings.Repeat("x", 101)) }, []string{`href="#signer_title"`, "at most 100 characters"}, ""},
		"a long reason":  {func(v url.Values) { v.Set("decision", "decline"); v.Set("reason", strings.Repeat("x", 1001)) }, []string{`href="#reason"`, "at most 1000 characters", strings.Repeat("x", 1001) + "</textarea>"}, ""},
	} {
		form := url.Values{}
		for name, values := range whole {
			form[name] = append([]string(nil), values...)
		}
		c.change(form)
		page := h.wantPage(h.browse("POST", path, form), http.StatusBadRequest, c.texts...)
		if c.without != "" && strings.Contains(page, c.without) {
			t.Errorf("%s: the page has %s", name, c.without)
		}
	}
	for status, form := range map[int]url.Values{
		http.StatusBadRequest:            {"decision": {"maybe"}},
		http.StatusRequestEntityTooLarge: {"decision": {"sign"}, "reason": {strings.Repeat("x", 1<<20)}},
	} {
		h.wantPage(h.browse("POST", path, form), status, "Nothing was signed")
	}
	h.wantPage(h.browse("POST", path, url.Values{"decision": {"sign"}, "color": {"red"}}), http.StatusBadRequest, "The form cannot be read")
	h.wantPage(h.browse("POST", path, nil), http.StatusUnsupportedMediaType, "The form cannot be read")
	if e := h.evidence(id); len(e.Events) != 1 || at(t, h.portRequest(id), "status") != "waiting_for_signature" {
		t.Errorf("a mistake changes something: %+v", e.Events)
	}
}

func TestLinksThatDoNotWork(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, old := h.letter("+14155550100")
	h.want(http.StatusOK, "POST", "/v1/sip/port/"+id+"/letter/resend", "")
	for _, path := range []string{old, "/loa/unknown-unknown-unknown", "/loa/short", "/loa/" + strings.Repeat("x", 300), "/loa/%00%ff-unknown-unknown-unknown"} {
		h.wantPage(h.browse("GET", path, nil), http.StatusNotFound, "This link leads to no letter")
		h.wantPage(h.browse("POST", path, url.Values{"decision": {"decline"}}), http.StatusNotFound, "This link leads to no letter")
		h.wantPage(h.browse("GET", path+"/letter.pdf", nil), http.StatusNotFound, "This link leads to no letter")
	}
	id, path := h.letter("+14155550101")
	h.wantPage(h.browse("GET", path+"?utm_source=mail&x=%00", nil), http.StatusOK, "Sign the letter")
	h.want(http.StatusOK, "DELETE", "/v1/sip/port/"+id, "")
	h.wantPage(h.browse("GET", path, nil), http.StatusGone, "not needed any more")
	h.wantPage(h.browse("POST", path, url.Values{"decision": {"decline"}}), http.StatusGone, "not needed any more")

	_, path = h.letter("+14155550102")
	later := h.withPorts(func(c *porting.Config, l *loa.Config) {
		clock := &movedClock{time.Now().UTC().AddDate(0, 0, 31)}
		c.Clock, l.Clock = clock, clock
	})
	h.wantPage(later.browse("GET", path, nil), http.StatusGone, "The time to sign is over")
	h.wantPage(later.browse("POST", path, url.Values{"decision": {"sign"}}), http.StatusGone, "The time to sign is over")

	away := h.withPorts(func(_ *porting.Config, l *loa.Config) { l.Store = lostLetters{l.Store} })
	answer := h.browse("GET", path, nil)
	h.wantPage(answer, http.StatusOK)
	h.wantPage(away.browse("GET", path, nil), http.StatusServiceUnavailable, "cannot be shown now")
	h.wantPage(away.browse("POST", path, url.Values{"decision": {"decline"}}), http.StatusServiceUnavailable, "cannot be shown now")
	h.wantPage(away.browse("GET", path+"/letter.pdf", nil), http.StatusServiceUnavailable, "cannot be shown now")
}

// lostLetters is a store whose LetterByLink returns ErrUnavailable.
type lostLetters struct{ loa.Store }

func (lostLetters) LetterByLink(context.Context, string) (loa.Letter, error) {
	return loa.Letter{}, callwright.ErrUnavailable
}

// TestPagesHaveTheirStyleAndNothingElse checks that the Content-Security-Policy allows exactly the style of the page.
func TestPagesHaveTheirStyleAndNothingElse(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, path := h.letter("+14155550100")
	for _, answer := range []*httptest.ResponseRecorder{h.browse("GET", path, nil), h.browse("GET", "/loa/unknown-unknown-unknown", nil)} {
		page := answer.Body.String()
		style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(page)
		if style == nil {
			t.Fatal("no style")
		}
		sum := sha256.Sum256([]byte(style[1]))
		want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
		if got := answer.Header().Get("Content-Security-Policy"); got != want {
			t.Errorf("the policy is %q, want %q", got, want)
		}
		if found := regexp.MustCompile(`(?i)<script|<img|<link|<iframe|\son[a-z]+=|\sstyle=|javascript:`).FindString(page); found != "" {
			t.Errorf("the page has %q, which the policy forbids", found)
		}
	}
}

// TestTokensAreNotLogged checks that no token is in the log after valid, invalid and failed requests.
func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, path := h.letter("+14155550100")
	token := strings.TrimPrefix(path, "/loa/")
	page := h.browse("GET", path, nil).Body.String()
	h.browse("GET", path+"/letter.pdf", nil)
	h.browse("POST", path, url.Values{"decision": {"maybe"}})
	h.browse("POST", path, url.Values{"decision": {"sign"}})
	h.browse("PUT", path, nil)
	h.browse("POST", path, signature(page))
	broken := h.withPorts(func(_ *porting.Config, l *loa.Config) { l.Store = brokenLetters{l.Store} })
	broken.wantPage(broken.browse("GET", path, nil), http.StatusInternalServerError, "Something went wrong")
	if text := h.log.String(); strings.Contains(text, token) || !strings.Contains(text, "the disk is on fire") {
		t.Errorf("the log: %s", text)
	}
}

// brokenLetters is a store whose LetterByLink returns an uncoded error.
type brokenLetters struct{ loa.Store }

func (brokenLetters) LetterByLink(context.Context, string) (loa.Letter, error) {
	return loa.Letter{}, errors.New("the disk is on fire")
}

func TestLettersOfOthersAreAbsent(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.letter("+14155550100")
	_, stranger := h.tenant("stranger", callwright.EntitlementSIP)
	for _, target := range []string{"/v1/sip/port/" + id + "/letter", "/v1/sip/port/" + id + "/letter.pdf"} {
		foreign := h.want(http.StatusNotFound, "GET", target, "", header{"Authorization", stranger})
		if at(t, foreign, "errors", 0, "message") != "letter not found" {
			t.Errorf("%s: %v", target, foreign)
		}
	}
}
