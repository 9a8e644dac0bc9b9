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

// The renderer leaves out raw HTML; the policy holds even where the renderer fails. Images are not shown: viewing them would reveal
// readers to another server.
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

// maxMarkdown is the maximum number of rendered bytes of a text.
const maxMarkdown = 64 << 10

// The parser's time grows with the square of these, and texts that people write have few.
const (
	maxBrackets = 200 // opening ones
	maxNested   = 20  // quotations or lists in each other: marks at the beginning of a line
)

// costly reports whether the parser may take long for a text.
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

// markdown renders a user's text; an expensive text is shown as it was typed. most bounds its bytes; 0: maxMarkdown.
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

// boldHeadings renders headings as bold paragraphs: so that the headings of the page keep their order.
type boldHeadings struct{}

// RegisterFuncs registers the renderer of headings.
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
