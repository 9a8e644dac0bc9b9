package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/tool"
)

// secure permits only URLs that begin with https.
type secure struct{}

func (secure) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const good, plain = `{"name":"a","url":"https://x.example/"}`, `{"name":"b","url":"http://x.example/"}`
	for name, test := range map[string]struct {
		raws  []string
		most  int
		urls  callwright.URLs
		code  callwright.Code
		field string
	}{
		"none":              {nil, 0, nil, "", ""},
		"one that fits":     {[]string{good}, len(good), secure{}, "", ""},
		"too large":         {[]string{good}, len(good) - 1, secure{}, callwright.CodeBadRequest, "tools"},
		"no tool":           {[]string{good, `1`}, 1000, secure{}, callwright.CodeBadRequest, "tools[1]"},
		"a forbidden URL":   {[]string{good, plain}, 1000, secure{}, callwright.CodeBadRequest, "tools[1].url"},
		"without a network": {[]string{good}, 1000, nil, callwright.CodeUnavailable, "tools[0].url"},
	} {
		var raws []json.RawMessage
		for _, raw := range test.raws {
			raws = append(raws, json.RawMessage(raw))
		}
		err := tool.Check(raws, test.most, test.urls)
		e, _ := errors.AsType[*callwright.Error](err)
		if callwright.CodeOf(err) != test.code || e != nil && e.Field != test.field {
			t.Errorf("%s: got %v, want %s about %q", name, err, test.code, test.field)
		}
	}
}
