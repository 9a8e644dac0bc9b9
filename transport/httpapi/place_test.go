package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPathsHaveIndexes checks that the path of an error within a list contains the index.
func TestPathsHaveIndexes(t *testing.T) {
	t.Parallel()
	h := open(t)
	attach := func(second string) string {
		return `{"phone_number":"` + ourNumber + `","service":"sip","directions":[{"type":"inbound","options":{"allowed_ips":["10.0.0.1"]}},` +
			second + `]}`
	}
	for body, path := range map[string]string{
		attach(`{"type":"outbound","colour":"red"}`):                       "directions[1].colour",
		attach(`{"type":"outbound","options":{"port":"5061"}}`):            "directions[1].options.port",
		attach(`{"type":"outbound","options":{"port":true}}`):              "directions[1].options.port",
		attach(`{"type":"outbound","options":{"allowed_ips":["a.b", 7]}}`): "directions[1].options.allowed_ips[1]",
		attach(`{"type":"outbound","options":[]}`):                         "directions[1].options",
		attach(`7`): "directions[1]",
		attach(`{"type":"outbound","register_auth":{"username":"u"}}`):                                                           "directions[1].register_auth.password",
		attach(`{"sip_endpoint":"sip:a.example"}`):                                                                               "directions[1].type",
		attach(`{"type":"outbound","options":{"port":0}}`):                                                                       "directions[1].options.port",
		attach(`{"type":"outbound","headers":{"headers":[{"type":"custom","key":"X-A"}]}}`):                                      "directions[1].headers.headers[0].value",
		`{"phone_numbers":["+14155550100",[[["x"]]]],"service":"sip","directions":[{"type":"inbound"}]}`:                         "phone_numbers[1]",
		`{"phone_number":"+14155550100","service":"sip","directions":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`: "directions[0]",
		`{"phone_number":"+14155550100","service":"sip","directions":{}}`:                                                        "directions",
		`{"phone_number":"+14155550100","service":"sip","directions":[{"type":"inbound"}],"na\u00efve\n":1}`:                     "na\u00efve\n",
		`{"phone_number":"+14155550100","service":"sip","directions":[{"type":"inbound"}],"colours":["red"]}`:                    "colours",
		`{"phone_number":"+14155550100","service":"sip","directions":[{"type":"inbound"}],"colours":[[{"a":1}]]}`:                "colours",
		attach(`{"type":"outbound","colours":["red","blue"]}`):                                                                   "directions[1].colours",
		`[]`: "",
	} {
		answer := h.want(http.StatusBadRequest, "POST", "/v1/sip/attach", body)
		if got, _ := at(t, answer, "errors", 0, "path").(string); got != path {
			t.Errorf("%.150s: path %q, want %q", body, got, path)
		}
	}
}

// FuzzAttach checks that no body causes a server error.
func FuzzAttach(f *testing.F) {
	for _, body := range []string{
		`{"phone_number":"+14155550100","service":"sip","directions":[{"type":"inbound","options":{"port":5}}]}`,
		`{"directions":[{"type":7,"headers":{"headers":[{"type":"uui"}]}}]}`, `{"directions":[[{"x":1}]]}`, `[]`, ` "`, "",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := open(t)
		if answer := h.do("POST", "/v1/sip/attach", body); answer.Code >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", body, answer.Code, answer.Body)
		}
	})
}
