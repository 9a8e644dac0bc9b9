package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/sipapi"
)

// every calls fn for each operation of the contract, except the operational pages.
func every(fn func(method, path string, op *v3.Operation)) {
	document, _ := contract()
	for path, item := range document.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			if !slices.Contains(op.Tags, "Operations") {
				fn(strings.ToUpper(method), path, op)
			}
		}
	}
}

// request returns a request for an operation with the contract's examples.
func request(t *testing.T, method, path string, op *v3.Operation) *http.Request {
	t.Helper()
	query := url.Values{}
	for _, p := range op.Parameters {
		value := "example"
		if p.Example != nil {
			value = p.Example.Value
			if len(p.Example.Content) > 0 { // the first element of a list
				value = p.Example.Content[0].Value
			}
		}
		if slices.Contains(p.Schema.Schema().Type, "integer") {
			value = "1"
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && p.Required != nil && *p.Required:
			query.Set(p.Name, value)
		}
	}
	contentType, body := exampleBody(t, op)
	r := httptest.NewRequestWithContext(t.Context(), method, path+"?"+query.Encode(), body)
	r.Header.Set("Content-Type", contentType)
	return r
}

func exampleBody(t *testing.T, op *v3.Operation) (string, io.Reader) {
	t.Helper()
	if op.RequestBody == nil {
		return "", http.NoBody
	}
	media := op.RequestBody.Content.First()
	var example any
	node := media.Value().Example
	if node == nil && media.Value().Examples != nil && media.Value().Examples.Len() > 0 {
		node = media.Value().Examples.First().Value().Value
	}
	if node != nil {
		if err := node.Decode(&example); err != nil {
			t.Fatal(err)
		}
	}
	switch media.Key() {
	case "application/x-www-form-urlencoded":
		form := url.Values{}
		for name, value := range example.(map[string]any) {
			form.Set(name, fmt.Sprint(value))
		}
		return media.Key(), strings.NewReader(form.Encode())
	case "multipart/form-data":
		var form bytes.Buffer
		writer := multipart.NewWriter(&form)
		for name, property := range media.Value().Schema.Schema().Properties.FromOldest() {
			if schema := property.Schema(); schema.Format == "binary" || schema.Items != nil {
				part, err := writer.CreateFormFile(name, "file")
				if err != nil {
					t.Fatal(err)
				}
				content := "%PDF-1.7\n"
				if name == "audio_samples" {
					content = aVoice()
				}
				_, _ = io.WriteString(part, content)
			} else {
				_ = writer.WriteField(name, "example")
			}
		}
		_ = writer.Close()
		return writer.FormDataContentType(), &form
	}
	text, err := json.Marshal(example)
	if err != nil {
		t.Fatal(err)
	}
	return media.Key(), bytes.NewReader(text)
}

var statusRow = regexp.MustCompile("(?m)^\\| `([a-zA-Z]+)` \\| `([A-Z]+)` \\| `([^`]+)` \\|")

// TestStatusPageListsWhatIsNotBuilt checks that docs/status.md lists exactly the operations that answer 501.
func TestStatusPageListsWhatIsNotBuilt(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range statusRow.FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, strings.Join(row[1:], " "))
	}
	h := open(t)
	var unbuilt []string
	every(func(method, path string, op *v3.Operation) {
		r := request(t, method, path, op)
		r.Header.Set("Authorization", h.key)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		switch answer.Code {
		case http.StatusNotImplemented:
			keepsContract(t, r, answer)
			if !strings.Contains(answer.Body.String(), `"NOT_IMPLEMENTED"`) {
				t.Errorf("%s: %s", op.OperationId, answer.Body)
			}
			unbuilt = append(unbuilt, op.OperationId+" "+method+" "+path)
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
			t.Errorf("%s: its own example is answered with %d %s", op.OperationId, answer.Code, answer.Body)
		}
	})
	slices.Sort(listed)
	slices.Sort(unbuilt)
	for _, name := range unbuilt {
		if !slices.Contains(listed, name) {
			t.Errorf("docs/status.md does not list %s, which is not built", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(unbuilt, name) {
			t.Errorf("docs/status.md lists %s, which is built or not in the contract", name)
		}
	}
}

func TestOperationsWithoutTheirServiceAreNotBuilt(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) { c.Areas = services{}.all() })
	every(func(method, path string, op *v3.Operation) {
		r := request(t, method, path, op)
		r.Header.Set("Authorization", h.key)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", op.OperationId, answer.Code, answer.Body)
		}
	})
}

func TestTrunksWithoutDiscoveriesAndTestCalls(t *testing.T) {
	t.Parallel()
	full := open(t)
	h := open(t, func(c *httpapi.Config) {
		c.Areas = []httpapi.Area{sipapi.New(sipapi.Config{Trunks: full.areas.trunks.Trunks})}
	})
	h.want(http.StatusNotImplemented, "POST", "/v1/sip/discover", `{"host":"a.example"}`)
	h.want(http.StatusNotImplemented, "GET", "/v1/sip/discover/status?discovery_id=disc_1", "")
	h.want(http.StatusNotImplemented, "POST", "/v1/sip/test-call", `{"phone_number":"`+ourNumber+`"}`)
	h.want(http.StatusNotImplemented, "GET", "/v1/sip/test-call/status?call_id=tc_1", "")
	h.want(http.StatusNotImplemented, "GET", "/v1/sip/firewall-ips", "")
	h.want(http.StatusNotImplemented, "GET", "/v1/sip/outbound-setup", "")
	h.want(http.StatusOK, "GET", "/v1/sip/numbers", "")
}
