package sqldb

import (
	"bytes"

	"github.com/uptrace/bun/dialect/pgdialect"
)

// postgresDialect writes documents with appendJSON.
type postgresDialect struct{ *pgdialect.Dialect }

// AppendJSON writes a document.
func (postgresDialect) AppendJSON(b, document []byte) []byte { return appendJSON(b, document) }

// appendJSON writes a document as a text of SQL. An escaped NUL, which PostgreSQL refuses, becomes the six characters of its escape.
// bun 1.3.0 finds one in an escaped backslash before u0000, too, and changes the document.
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
