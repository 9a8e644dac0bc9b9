package httpapi_test

import (
	"net/http"
	"testing"
)

// TestMembersGivenTwice checks that a duplicate member in any object of a body is refused by its name, in any spelling.
func TestMembersGivenTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for body, c := range map[string]struct{ path, field string }{
		`{"phone_number":"+14155550155","task":"a","task":"b"}`:                                        {"/v1/calls", "task"},
		`{"phone_number":"+14155550155","task":"a","t\u0061sk":null}`:                                  {"/v1/calls", "task"},
		`{"phone_number":"+14155550155","task":"a","request_data":{"x":[1,{"y":1,"z":2,"y":1}]}}`:      {"/v1/calls", "request_data.x[1].y"},
		`{"phone_numbers":["+14155550155"],"service":"sip","directions":[{"type":"a","type":"a"}]}`:    {"/v1/sip/attach", "directions[0].type"},
		`{"name":"x","nodes":[{"id":"a","type":"Default","data":{"text":"a","text":"b"}}],"edges":[]}`: {"/v1/pathway/create", "nodes[0].data.text"},
	} {
		answer := h.want(400, "POST", c.path, body)
		if message := at(t, answer, "errors", 0, "message"); message != c.field+": must be given only once" {
			t.Errorf("%s: %v", body, message)
		}
	}
	h.want(400, "POST", "/v1/calls", `{"task":"a","task":`) // invalid JSON
}

// TestCodedBodies checks that a body with a content coding is refused without being read, and that the answer names the accepted coding.
func TestCodedBodies(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	const body = `{"phone_number":"+14155550155","task":"a"}`
	for _, coding := range []string{"gzip", "identity, br", "deflate"} {
		answer := h.do("POST", "/v1/calls", "\x1f\x8b\xff", header{"Content-Encoding", coding})
		if answer.Code != http.StatusUnsupportedMediaType || answer.Header().Get("Accept-Encoding") != "identity" {
			t.Errorf("%s: %d %v %s", coding, answer.Code, answer.Header(), answer.Body)
		}
	}
	h.want(http.StatusOK, "POST", "/v1/calls", body, header{"Content-Encoding", "Identity"})
	h.want(http.StatusOK, "POST", "/v1/calls", body, header{"Content-Encoding", ""})
}
