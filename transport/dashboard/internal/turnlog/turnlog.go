// Package turnlog shows turns of conversations: decisions with their reasons, variables and requests.
package turnlog

import (
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/_turnlog.html
var files embed.FS

// In returns an area to which the template "entries" is added, whose dot is a []pathway.LogEntry, with the functions of this package:
// "indented" is Indented.
func In(a page.Area) page.Area {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return a.With(templates, template.FuncMap{"logkind": kindText, "logreply": replyOf, "indented": Indented})
}

// kinds name the events of a turn.
var kinds = map[pathway.LogKind]string{
	pathway.LogVisit: "came to", pathway.LogDecision: "decided at", pathway.LogVariables: "variables", pathway.LogRequest: "request",
	pathway.LogKnowledge: "looked up", pathway.LogLoop: "looped", pathway.LogError: "failed",
}

// kindText returns the name of an event of a turn.
func kindText(k pathway.LogKind) string {
	if text, ok := kinds[k]; ok {
		return text
	}
	return string(k)
}

// replyOf returns the badge of a request's answer.
func replyOf(l *request.Log) page.Badge {
	switch {
	case l.Status == 0:
		return page.Badge{Kind: "bad", Text: "no answer"}
	case l.Error != "" || l.Status >= 400:
		return page.Badge{Kind: "bad", Text: strconv.Itoa(l.Status)}
	}
	return page.Badge{Kind: "good", Text: strconv.Itoa(l.Status)}
}

// maxJSON bounds the result of Indented, in characters.
const maxJSON = 8000

// Indented returns the beginning of data as JSON for people; empty for no data.
func Indented(data map[string]any) (string, error) {
	text, err := JSON(data)
	return callwright.Clip(text, maxJSON), err
}

// JSON returns data as JSON for people, however long it is; empty for no data.
func JSON(data map[string]any) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // templates escape it where needed
	e.SetIndent("", "  ")
	err := e.Encode(data)
	return strings.TrimSuffix(text.String(), "\n"), err
}
