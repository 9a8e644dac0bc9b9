package issues

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/callwright/callwright"
)

// renderMarkdown omits raw HTML. policy removes unsafe HTML, even if renderMarkdown has a fault. policy also removes images, because
// loading an image would disclose the user's IP address to another server.
var (
	renderMarkdown = goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(boldHeadings{}, 100))),
	)
	policy = newPolicy()
)

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li", "hr")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

// maxMarkdown is the default limit of the function markdown, in bytes.
const maxMarkdown = 64 << 10

// The limits that the function costly checks. The parser's time grows with the square of these numbers, and ordinary texts contain few.
const (
	maxBrackets = 200 // opening brackets per text
	maxNested   = 20  // marks of quotations and lists at the beginning of a line
)

// costly reports whether a text exceeds maxBrackets or maxNested, so that parsing it may take seconds.
func costly(text string) bool {
	if strings.Count(text, "[") > maxBrackets {
		return true
	}
	for line := range strings.Lines(text) {
		marks := 0
		for _, c := range line {
			if strings.ContainsRune(">-*+.)", c) {
				marks++
			} else if !strings.ContainsRune(" \t0123456789", c) {
				break
			}
		}
		if marks > maxNested {
			return true
		}
	}
	return false
}

// markdown renders a user's text, truncated to the given number of bytes, or to maxMarkdown if the number is 0. A text that is costly or
// cannot be rendered is shown unparsed.
func markdown(most int, text string) template.HTML {
	if most == 0 {
		most = maxMarkdown
	}
	text = callwright.Clip(text, most)
	var b bytes.Buffer
	if costly(text) || renderMarkdown.Convert([]byte(text), &b) != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(text) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(policy.SanitizeBytes(b.Bytes())) //nolint:gosec // sanitized
}

// boldHeadings renders headings as bold paragraphs, so that the page keeps its own order of headings.
type boldHeadings struct{}

// RegisterFuncs implements renderer.NodeRenderer. It registers the renderer of headings.
func (boldHeadings) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tags := "</strong></p>\n"
		if entering {
			tags = "<p><strong>"
		}
		_, err := w.WriteString(tags)
		return ast.WalkContinue, err
	})
}
