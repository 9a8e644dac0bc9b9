package sqldb

import (
	"bytes"

	"github.com/uptrace/bun/dialect/pgdialect"
)

// postgresDialect is bun's dialect with a corrected AppendJSON.
type postgresDialect struct{ *pgdialect.Dialect }

// AppendJSON appends a JSON document to b as an SQL literal.
func (postgresDialect) AppendJSON(b, document []byte) []byte { return appendJSON(b, document) }

// appendJSON appends a JSON document to b as an SQL literal. It replaces an escaped NUL, which PostgreSQL refuses, with the six characters
// of its escape. bun 1.3.0 also replaces u0000 after an escaped backslash, which changes the document.
func appendJSON(b, document []byte) []byte {
	const nul, shown = `\u0000`, `\\u0000`
	b = append(b, '\'')
	for len(document) > 0 {
		next := 1
		switch {
		case document[0] == '\'':
			b = append(b, "''"...)
		case bytes.HasPrefix(document, []byte(nul)):
			b = append(b, shown...)
			next = len(nul)
		case bytes.HasPrefix(document, []byte(`\\`)):
			b = append(b, `\\`...)
			next = len(`\\`)
		default:
			b = append(b, document[0])
		}
		document = document[next:]
	}
	return append(b, '\'')
}
