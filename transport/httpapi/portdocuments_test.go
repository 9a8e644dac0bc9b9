package httpapi_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/callwright/callwright/porting/document"
)

const aPDF = "%PDF-1.7\n%%EOF\n"

// part is a part of a multipart form. If file is set, the part is a file with this name.
type part struct{ name, file, content string }

// upload posts a form as a document of port requests, checks the answer against the contract, and returns it.
func (h *house) upload(body io.Reader, contentType string) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), "POST", "/v1/sip/port/document", body)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", h.key)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	keepsContract(h.t, r, answer)
	return answer
}

// form returns a multipart form and its Content-Type.
func form(parts ...part) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		if p.file == "" {
			_ = w.WriteField(p.name, p.content)
			continue
		}
		_, _ = io.WriteString(must(w.CreateFormFile(p.name, p.file)), p.content)
	}
	_ = w.Close()
	return &b, w.FormDataContentType()
}

// document uploads a document with a key, and returns the document's id.
func (h *house) document(key string) string {
	h.t.Helper()
	body, contentType := form(part{"file", "bill.pdf", aPDF})
	r := httptest.NewRequestWithContext(h.t.Context(), "POST", "/v1/sip/port/document", body)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", key)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	_, after, _ := strings.Cut(answer.Body.String(), `"document_sid":"`)
	id, _, ok := strings.Cut(after, `"`)
	if answer.Code != http.StatusCreated || !ok || !strings.HasPrefix(id, "doc_") {
		h.t.Fatalf("upload: %d %s", answer.Code, answer.Body)
	}
	return id
}

func TestDocumentIsUsedByAPortRequest(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.document(h.key)
	if line := h.requestLine(); at(t, line, "ids", "document_sid") != id {
		t.Errorf("the log has %v", line)
	}
	body := strings.Replace(portBody("+14155550100"), `"doc_1"`, `"`+id+`"`, 1)
	request, _ := at(t, h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", body), "data", "port_request_id").(string)
	if got := at(t, h.portRequest(request), "documents", 0); got != id {
		t.Errorf("the request has the document %v", got)
	}
	_, stranger := h.tenant("stranger", "SIP")
	body = strings.Replace(body, "+14155550100", "+14155550101", 1)
	foreign := h.want(http.StatusBadRequest, "POST", "/v1/sip/port/initiate", body, header{"Authorization", stranger})
	absent := h.want(http.StatusBadRequest, "POST", "/v1/sip/port/initiate", strings.Replace(body, id, "doc_0", 1), header{"Authorization", stranger})
	for _, answer := range []map[string]any{foreign, absent} {
		if at(t, answer, "errors", 0, "message") != "documents[0]: must be the id of an uploaded document: upload it first" {
			t.Errorf("another organization's document: %v", answer)
		}
	}
}

func TestUploadsAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	whole := strings.Repeat("x", document.MaxSize-len(aPDF))
	for name, c := range map[string]struct {
		parts      []part
		status     int
		code, path string
	}{
		"largest":    {[]part{{"file", "a.pdf", aPDF + whole}}, 201, "", ""},
		"with notes": {[]part{{"note", "", "x"}, {"file", "a.pdf", aPDF}}, 201, "", ""},
		"no file":    {[]part{{"note", "", "x"}}, 400, "BAD_REQUEST", "file"},
		"a text":     {[]part{{"file", "", aPDF}}, 400, "BAD_REQUEST", "file"},
		"two files":  {[]part{{"file", "a.pdf", aPDF}, {"file", "b.pdf", aPDF}}, 400, "BAD_REQUEST", "file"},
		"too large":  {[]part{{"file", "a.pdf", aPDF + whole + "x"}}, 413, "PAYLOAD_TOO_LARGE", "file"},
		"wrong type": {[]part{{"file", "a.pdf", "<html>"}}, 415, "UNSUPPORTED_MEDIA", "file"},
		"empty":      {[]part{{"file", "a.pdf", ""}}, 400, "BAD_REQUEST", "file"},
	} {
		body, contentType := form(c.parts...)
		answer := h.upload(body, contentType)
		text := answer.Body.String()
		if answer.Code != c.status || c.code != "" && (!strings.Contains(text, `"error":"`+c.code+`"`) || !strings.Contains(text, `"path":"`+c.path+`"`)) {
			t.Errorf("%s: %d %s, want %d about %q", name, answer.Code, text, c.status, c.path)
		}
	}
	body, contentType := form(part{"file", "a.pdf", aPDF + strings.Repeat("x", 1<<20)})
	if answer := h.upload(io.LimitReader(body, 1<<19), contentType); answer.Code != http.StatusBadRequest {
		t.Errorf("a form that is cut off: %d %s", answer.Code, answer.Body)
	}
	other := h.document(h.key)
	for range 200 {
		body, contentType := form(part{"file", "a.pdf", aPDF})
		if answer := h.upload(body, contentType); answer.Code == http.StatusTooManyRequests {
			return
		}
	}
	t.Errorf("documents without end can be uploaded, %s among them", other)
}

// endless is a reader of a large document that is never in memory as a whole. It measures the heap while it is read.
type endless struct {
	head io.Reader
	left int
	most uint64 // maximum size of the heap, in bytes
	base uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if n, _ := e.head.Read(p); n > 0 {
		return n, nil
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	clear(p[:n])
	if before := e.left / (1 << 20); (e.left-n)/(1<<20) != before {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.most = max(e.most, m.HeapAlloc)
	}
	e.left -= n
	return n, nil
}

// TestUploadsDoNotFillTheMemory checks that the heap grows by at most 1 MiB during an upload of 9 MiB.
func TestUploadsDoNotFillTheMemory(t *testing.T) { //nolint:paralleltest // others would use the heap, too
	h := open(t)
	h.Handler = h.unchecked
	const boundary = "b"
	start := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n%PDF-1.7\n"
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	e := &endless{head: strings.NewReader(start), left: 9 << 20, base: m.HeapAlloc}
	answer := h.upload(io.MultiReader(e, strings.NewReader("\r\n--b--\r\n")), "multipart/form-data; boundary="+boundary)
	if answer.Code != http.StatusCreated {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if e.most == 0 || e.most > e.base+1<<20 {
		t.Errorf("the heap grows from %d to %d bytes while a document is received", e.base, e.most)
	}
}
