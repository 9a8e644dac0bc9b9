package agents

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/agents/request"
)

// DynamicData describes a request that is sent before a conversation. The agent's texts may use its answer.
type DynamicData struct {
	URL, Method string         // an empty Method means GET
	Headers     []request.Pair // values may contain {{variables}} of the call's request data
	Query       []request.Pair
	Body        []request.Pair // members of a JSON object; an empty list means no body
	Cache       bool           // stored without effect: every conversation sends the request once
	Response    []request.Mapping
}

// Source returns the request in the form of package request. Its body is a JSON object whose members are strings.
func (d DynamicData) Source() request.Source {
	s := request.Source{Method: d.Method, URL: d.URL, Headers: d.Headers, Query: d.Query, Variables: d.Response}
	if len(d.Body) > 0 {
		members := make([]string, len(d.Body))
		for i, p := range d.Body {
			members[i] = quote(p.Name) + ":" + quote(p.Value)
		}
		s.Body = "{" + strings.Join(members, ",") + "}"
	}
	return s
}

// Facts returns the sentences that report the answers of the agent's dynamic data to a model.
func (a Agent) Facts() []request.Fact {
	var facts []request.Fact
	for _, d := range a.DynamicData {
		facts = append(facts, d.Source().Facts()...)
	}
	return facts
}

// quote encodes a text as a JSON string. It does not escape <, > and &, because the name of a variable may contain them.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) //nolint:errchkjson // a text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}
