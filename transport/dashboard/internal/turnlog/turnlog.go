// Package turnlog shows the turns of conversations: decisions with their reasons, variables and requests.
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

// In returns a copy of an area with the template "entries" and the functions of this package, such as "indented" for Indented. The
// template's dot is a []pathway.LogEntry.
func In(a page.Area) page.Area {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return a.With(templates, template.FuncMap{"logkind": kindText, "logreply": replyOf, "indented": Indented, "models": UsesText, "cause": causeText, "dollars": dollars})
}

// kinds maps the kinds of log entries to the words that pages show.
var kinds = map[pathway.LogKind]string{
	pathway.LogVisit: "came to", pathway.LogDecision: "decided at", pathway.LogVariables: "variables", pathway.LogRequest: "request",
	pathway.LogKnowledge: "looked up", pathway.LogLoop: "looped", pathway.LogError: "failed",
}

// kindText returns the words for a kind of log entry.
func kindText(k pathway.LogKind) string {
	if text, ok := kinds[k]; ok {
		return text
	}
	return string(k)
}

// replyOf returns the badge of the answer to a request. The badge's text is the HTTP status, or "no answer".
func replyOf(l *request.Log) page.Badge {
	switch {
	case l.Status == 0:
		return page.Badge{Kind: "bad", Text: "no answer"}
	case l.Error != "" || l.Status >= 400:
		return page.Badge{Kind: "bad", Text: strconv.Itoa(l.Status)}
	}
	return page.Badge{Kind: "good", Text: strconv.Itoa(l.Status)}
}

// maxJSON is the maximum length of Indented's result, in bytes.
const maxJSON = 8000

// Indented returns data as indented JSON, clipped to 8,000 bytes. It returns an empty text for empty data.
func Indented(data map[string]any) (string, error) {
	text, err := JSON(data)
	return callwright.Clip(text, maxJSON), err
}

// JSON returns data as indented JSON of any length. It returns an empty text for empty data.
func JSON(data map[string]any) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // templates escape HTML where needed
	e.SetIndent("", "  ")
	err := e.Encode(data)
	return strings.TrimSuffix(text.String(), "\n"), err
}
