package issues

import (
	"bytes"
	"html/template"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/callwright/callwright"
)

// The renderer leaves out raw HTML; the policy holds even where the renderer fails. Images are not shown: viewing them would tell another
// server who reads what.
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

// maxMarkdown is how many bytes of a text are rendered.
const maxMarkdown = 64 << 10

// markdown renders a text that somebody has written. most bounds its bytes; 0: maxMarkdown.
func markdown(most int, text string) template.HTML {
	if most == 0 {
		most = maxMarkdown
	}
	var b bytes.Buffer
	if err := renderMarkdown.Convert([]byte(callwright.Clip(text, most)), &b); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(callwright.Clip(text, most)) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(policy.SanitizeBytes(b.Bytes())) //nolint:gosec // sanitized
}

// boldHeadings renders headings as bold paragraphs: those of the page stay in their order.
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
