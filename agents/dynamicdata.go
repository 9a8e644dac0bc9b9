package agents

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/agents/request"
)

// DynamicData is a request that is made before a conversation. The agent's texts may use its answer.
type DynamicData struct {
	URL, Method string         // an empty method: GET
	Headers     []request.Pair // texts may contain {{variables}} of the call's request data
	Query       []request.Pair
	Body        []request.Pair // members of a JSON object; none: no body
	Cache       bool           // as given: every conversation sends the request once
	Response    []request.Mapping
}

// Source returns the request for package request. The body is an object whose members are texts.
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

// Facts returns the sentences that tell a model the answers of the agent's dynamic data.
func (a Agent) Facts() []request.Fact {
	var facts []request.Fact
	for _, d := range a.DynamicData {
		facts = append(facts, d.Source().Facts()...)
	}
	return facts
}

// quote returns a text as JSON, with <, > and & unescaped: a variable's name may contain them.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) //nolint:errchkjson // a text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}
