package ports_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/ports"
)

// signedIn is an Authenticator that accepts every request for the organization that its header Org names.
type signedIn struct{}

func (signedIn) Authenticate(r *http.Request) (callwright.Principal, error) {
	org := callwright.OrgID(r.Header.Get("Org"))
	return callwright.Principal{Org: org, KeyID: "ada", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}}, nil
}

// quiet implements the mailer, the registrar of inbound numbers, the notifier and the check of webhook URLs. Its methods do nothing and
// succeed.
type quiet struct{}

func (quiet) SendMail(context.Context, string, string, string, string) error { return nil }
func (quiet) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}
func (quiet) NotifyPort(context.Context, string, porting.Request, porting.Entry) error { return nil }
func (quiet) CheckURL(string) error                                                    { return nil }

// house serves the pages over port requests in memory. No worker advances the requests.
type house struct {
	t      *testing.T
	store  portingstore.Requests
	url    string
	client *http.Client
	org    string
	puts   int // number of requests that the method put has stored
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func open(t *testing.T, change ...func(*porting.Config)) *house {
	t.Helper()
	memory := memstore.New()
	work := memstore.NewWork(memory, nil)
	documents := must(document.New(document.Config{
		Store: portingstore.Documents{Store: memory}, Blobs: portingstore.Blobs{Store: memory}, Work: work,
	}))
	letters := must(loa.New(loa.Config{
		Provider: "Acme Telecom", Store: portingstore.Letters{Store: memory}, Atomic: memory, Work: work, Mailer: quiet{},
		Renderer: loatest.Plain{}, Key: callwright.Secret(strings.Repeat("k", loa.MinKey)),
		URL: func(token string) string { return "https://voice.example.com/loa/" + token },
	}))
	c := porting.Config{
		Store: portingstore.Requests{Store: memory}, Atomic: memory, Work: work, Documents: documents, Letters: letters, Inbound: quiet{},
		Gateway:  must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"})),
		Notifier: quiet{}, URLs: quiet{},
	}
	for _, f := range change {
		f(&c)
	}
	service := must(porting.New(c))
	letters.Attach(service)
	site := must(page.New(page.Config{Authenticator: signedIn{}, Areas: []page.Area{
		ports.New(ports.Config{Ports: service, Documents: documents, Letters: letters}),
	}}))
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return &house{t, portingstore.Requests{Store: memory}, server.URL, &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}, "acme", 0}
}

// do makes a request and checks the status of the answer. It returns the body and the path of the final answer, after redirects.
func (h *house) do(status int, method, path, contentType string, body io.Reader) (text, at string) {
	h.t.Helper()
	r := must(http.NewRequestWithContext(h.t.Context(), method, h.url+path, body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Org", h.org)
	answer, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw := must(io.ReadAll(answer.Body))
	if answer.StatusCode != status {
		h.t.Fatalf("%s %s: status %d, want %d\n%s", method, path, answer.StatusCode, status, raw)
	}
	return string(raw), answer.Request.URL.Path
}

func (h *house) get(status int, path string) string {
	h.t.Helper()
	text, _ := h.do(status, http.MethodGet, path, "", nil)
	return text
}

var token = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (h *house) token() string {
	h.t.Helper()
	return token.FindStringSubmatch(h.get(http.StatusOK, "/ports/new"))[1]
}

func (h *house) post(status int, path string) string {
	h.t.Helper()
	form := url.Values{"csrf": {h.token()}}
	text, _ := h.do(status, http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
	return text
}

// start sends the form that starts a request, with the given files. changes alternates names and values that replace the valid fields.
func (h *house) start(status int, files []string, changes ...string) (text, at string) {
	h.t.Helper()
	fields := map[string]string{
		"csrf": h.token(), "phone_numbers": "+12065550123\n+12065550124", "customer_type": "business", "business_name": "Acme <script>",
		"first_name": "Robin", "last_name": "Doe", "authorized_representative_email": "robin@example.com", "account_number": "ACC-123456",
		"pin": "4711", "street": "1 Main Street", "city": "Seattle", "state": "WA", "zip": "98101", "country": "us",
	}
	for n := 0; n+1 < len(changes); n += 2 {
		fields[changes[n]] = changes[n+1]
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, content := range files {
		must(io.WriteString(must(w.CreateFormFile("file", `<script>"bill.pdf`)), content))
	}
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	return h.do(status, http.MethodPost, "/ports", w.FormDataContentType(), &b)
}

const pdf = "%PDF-1.7\n%%EOF\n"

// has checks that a page contains all texts.
func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	h := open(t)
	has(t, h.get(http.StatusOK, "/ports"), "No numbers are ported yet")
	text, at := h.start(http.StatusOK, []string{pdf})
	has(t, text, "The request is made", "waiting for signature", "The signer</strong> must act by", "12065550124", "Acme &lt;script&gt;",
		"******3456", "verified", "created", "robin@example.com", "Cancel this port request?")
	for _, secret := range []string{"4711", "ACC-123456", "Acme <script>", "voice.example.com/loa"} {
		if strings.Contains(text, secret) {
			t.Errorf("the page has %q", secret)
		}
	}
	has(t, h.get(http.StatusOK, "/ports?status=waiting_for_signature"), at, "12065550123, ")
	has(t, h.get(http.StatusOK, "/ports?status=completed"), "No request is in this state")
	h.get(http.StatusBadRequest, "/ports?status=lost")
	has(t, h.get(http.StatusOK, at+"?verify=pdf"), "the PDF is the one that was recorded")
	has(t, h.get(http.StatusOK, at+"/letter.pdf"), "Acme Telecom")
	has(t, h.get(http.StatusOK, at+"/evidence.json"), `"letter_sha256"`, `"events"`)
	file := regexp.MustCompile(`href="(/ports/[^"]+/documents/[^"]+)"`).FindStringSubmatch(text)
	if file == nil || h.get(http.StatusOK, file[1]) != pdf {
		t.Errorf("no document in\n%s", text)
	}
	h.get(http.StatusNotFound, at+"/documents/doc_other")
	lacks(t, text, "/loa/") // readers of the page must not be able to sign for the signer
	text = h.post(http.StatusOK, at+"/resend")
	has(t, text, "Another link is on its way", "The previous link no longer works.", "letter resent")
	lacks(t, text, "/loa/")
	has(t, h.post(http.StatusOK, at+"/cancel"), "The request is canceled.", "revoked")
	h.post(http.StatusConflict, at+"/resend")

	h.org = "other"
	for _, path := range []string{"", "/letter.pdf", "/evidence.json", strings.TrimPrefix(file[1], at)} {
		h.get(http.StatusNotFound, at+path)
	}
	h.post(http.StatusNotFound, at+"/cancel")
	h.post(http.StatusNotFound, at+"/resend")
	has(t, h.get(http.StatusOK, "/ports"), "No numbers are ported yet")
}

func TestFaults(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		name    string
		files   []string
		changes []string
		has     []string
	}{
		{"no document", nil, nil, []string{`id="fault-documents"`}},
		{"not a document", []string{"<html>"}, nil, []string{`id="fault-file"`}},
		{"too many files", []string{pdf, pdf, pdf, pdf, pdf, pdf}, nil, []string{`id="fault-file"`}},
		{"no numbers", []string{pdf}, []string{"phone_numbers", ""}, []string{`id="fault-phone_numbers"`}},
		{"a bad number", []string{pdf}, []string{"phone_numbers", "+12065550123, <b>, 4155550108"}, []string{
			`id="fault-phone_numbers">&lt;b&gt;: must be an E.164 phone number such as +15551234567. 4155550108: is ambiguous`,
		}},
		{"bad numbers", []string{pdf}, []string{"phone_numbers", "+12065550123\n+19005550123\n+12065550123"}, []string{
			`id="fault-phone_numbers">+19005550123: The number cannot be ported. +12065550123: must be unique.</p>`,
		}},
		{"a bad e-mail", []string{pdf}, []string{"notification_emails", "kim@example.com, kim"}, []string{`id="fault-notification_emails">kim: must be`}},
		{"several", []string{pdf}, []string{"first_name", "", "zip", "", "country", "xyz"}, []string{
			`id="fault-first_name"`, `id="fault-zip"`, `id="fault-country"`, "Uploaded: &lt;script&gt;&#34;bill.pdf<", `value="&lt;script&gt;&#34;bill.pdf"`, `value="1 Main Street"`,
		}},
		{"a bad date", []string{pdf}, []string{"target_port_date", "soon"}, []string{`id="fault-target_port_date"`}},
		{"a foreign document", nil, []string{"documents", "doc_other", "name-doc_other", "<b>bill.pdf"}, []string{
			`id="fault-documents">&lt;b&gt;bill.pdf: must be the id of an uploaded document`, `name="documents" value="doc_other"`, `name="name-doc_other" value="&lt;b&gt;bill.pdf"`,
		}},
		{"a foreign document without its name", nil, []string{"documents", "doc_other"}, []string{`id="fault-documents">doc_other: `}},
	} {
		text, _ := h.start(http.StatusUnprocessableEntity, c.files, c.changes...)
		has(t, text, c.has...)
		if strings.Contains(text, "4711") || strings.Contains(text, "ACC-123456") {
			t.Errorf("%s: the form shows a secret again", c.name)
		}
	}
	h.start(http.StatusRequestEntityTooLarge, []string{strings.Repeat("x", 5*document.MaxSize), strings.Repeat("x", page.MaxForm)})
}

// fails is a store that refuses every new request with an error.
type fails struct {
	porting.Store

	with error
}

func (s fails) InsertRequest(context.Context, porting.Request, ...porting.Entry) error { return s.with }

// recent is a store that lists one request, created just now.
type recent struct{ porting.Store }

func (recent) Requests(context.Context, callwright.OrgID, porting.Filter) ([]porting.Request, error) {
	return []porting.Request{{CreatedAt: time.Now()}}, nil
}

// TestFaultsOfTheWholeForm checks that a fault that belongs to no input is shown, and that the form keeps typed and uploaded data.
func TestFaultsOfTheWholeForm(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*porting.Config){
		"an organization can make at most 1 port requests within an hour": func(c *porting.Config) {
			c.MaxHourly = 1
			c.Store = recent{c.Store}
		},
		"the store is full. Try again in 2.0 s.": func(c *porting.Config) {
			c.Store = fails{c.Store, &callwright.Error{Code: callwright.CodeUnavailable, Message: "the store is full", RetryAfter: 2 * time.Second}}
		},
		"webhook_url: is &lt;b&gt;.": func(c *porting.Config) { c.Store = fails{c.Store, callwright.Invalid("webhook_url", "is <b>")} },
	} {
		text, _ := open(t, change).start(http.StatusUnprocessableEntity, []string{pdf})
		has(t, text, `<p class="fault" role="alert">`+want, `value="1 Main Street"`, `name="documents" value="doc_`)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	h := open(t)
	has(t, h.get(http.StatusOK, "/ports/check"), "Check numbers")
	has(t, h.get(http.StatusOK, "/ports/check?numbers="+url.QueryEscape("+12065550123\n+19005550123")), "12065550123", "yes",
		"The number cannot be ported.", `href="/ports/new?numbers=%2b12065550123"`)
	lacks(t, h.get(http.StatusOK, "/ports/check?numbers="+url.QueryEscape("+19005550123")), "/ports/new?numbers=")
	has(t, h.get(http.StatusOK, "/ports/check?numbers="+url.QueryEscape("+1 (206) 555-0123\n+1.206.555.0124")),
		`<th scope="row">&#43;12065550123<`, `?numbers=%2b12065550123%0a%2b12065550124"`)
	has(t, h.get(http.StatusOK, "/ports/check?numbers="+url.QueryEscape("4155550108\n+12065550123\n1")), `href="/ports/new?numbers=%2b12065550123"`,
		"Is ambiguous: must begin with &#43; and the country code: &#43;14155550108 for a number of North America", "Must begin with")
	has(t, h.get(http.StatusUnprocessableEntity, "/ports/check?numbers="+strings.Repeat("1,", 2000)), `id="fault-phone_numbers">must have from 1 to`)
	has(t, h.get(http.StatusOK, "/ports/check?numbers=%3Cscript%3E"), `<th scope="row">&lt;script&gt;</th>`, "Must be an E.164")
}
