package agentstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

type pathwayRow struct {
	bun.BaseModel `bun:"table:pathways"`

	ID          string         `bun:"id,pk"`
	Org         string         `bun:"org"`
	Name        string         `bun:"name"`
	Description string         `bun:"description"`
	Draft       string         `bun:"draft"` // sealed document
	Latest      int            `bun:"latest"`
	Production  int            `bun:"production"`
	Staging     int            `bun:"staging"`
	Promotion   *promotionJSON `bun:"promotion,type:jsonb"`
	CreatedAt   time.Time      `bun:"created_at"`
	UpdatedAt   time.Time      `bun:"updated_at"`
	Version     int64          `bun:"version"` // pathway.Pathway.Revision
}

type versionRow struct {
	bun.BaseModel `bun:"table:pathway_versions"`

	Pathway   string    `bun:"pathway_id,pk"`
	Number    int       `bun:"number,pk"`
	ID        string    `bun:"id"`
	Org       string    `bun:"org"`
	Name      string    `bun:"name"`
	Document  string    `bun:"document"` // sealed document
	Hash      string    `bun:"hash"`
	Parent    int       `bun:"parent"`
	Archived  bool      `bun:"archived"`
	CreatedAt time.Time `bun:"created_at"`
}

// draftPurpose and versionPurpose return the purposes of Keyring.Seal that bind sealed documents to their row.
func draftPurpose(org callwright.OrgID, id string) string {
	return fmt.Sprintf("pathway:%q:%q:draft", org, id)
}

func versionPurpose(org callwright.OrgID, id string, number int) string {
	return fmt.Sprintf("pathway:%q:%q:%d", org, id, number)
}

func (db core) pathwayRow(p pathway.Pathway) pathwayRow {
	row := pathwayRow{
		ID: p.ID, Org: string(p.Org), Name: p.Name, Description: p.Description,
		Draft: db.sealDocument(draftPurpose(p.Org, p.ID), p.Draft), Latest: p.Latest, Production: p.Production,
		Staging: p.Staging, CreatedAt: sqldb.Stored(p.CreatedAt), UpdatedAt: sqldb.Stored(p.UpdatedAt), Version: p.Revision,
	}
	if p.Promotion != nil {
		row.Promotion = &promotionJSON{p.Promotion.Number, p.Promotion.Batch, sqldb.Stored(p.Promotion.RequestedAt)}
	}
	return row
}

func (db core) pathway(r pathwayRow) (pathway.Pathway, error) {
	org := callwright.OrgID(r.Org)
	draft, err := db.openDocument(draftPurpose(org, r.ID), r.Draft)
	return pathway.Pathway{
		ID: r.ID, Org: org, Name: r.Name, Description: r.Description, Draft: draft, Latest: r.Latest,
		Production: r.Production, Staging: r.Staging, Promotion: (*pathway.Promotion)(r.Promotion),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Revision: r.Version,
	}, err
}

func (db core) versionRow(v pathway.Version) versionRow {
	return versionRow{
		Pathway: v.Pathway, Number: v.Number, ID: v.ID, Org: string(v.Org), Name: v.Name,
		Document: db.sealDocument(versionPurpose(v.Org, v.Pathway, v.Number), v.Document),
		Hash:     v.Hash, Parent: v.Parent, Archived: v.Archived, CreatedAt: sqldb.Stored(v.CreatedAt),
	}
}

func (db core) version(r versionRow) (pathway.Version, error) {
	org := callwright.OrgID(r.Org)
	document, err := db.openDocument(versionPurpose(org, r.Pathway, r.Number), r.Document)
	return pathway.Version{
		ID: r.ID, Org: org, Pathway: r.Pathway, Number: r.Number, Name: r.Name, Document: document, Hash: r.Hash,
		Parent: r.Parent, Archived: r.Archived, CreatedAt: r.CreatedAt.UTC(),
	}, err
}

// sealDocument encrypts a document, because its headers may contain keys of other systems. The plain text consists of the nodes, an empty
// line and the edges. For an empty document it returns an empty string.
func (db core) sealDocument(purpose string, d graph.Document) string {
	if d.Empty() {
		return ""
	}
	return db.Keyring.Seal(purpose, callwright.Secret(joined(d.Nodes)+"\n\n"+joined(d.Edges)))
}

// openDocument decrypts a document that sealDocument encrypted.
func (db core) openDocument(purpose, sealed string) (graph.Document, error) {
	plain, err := db.Unseal(purpose, sealed)
	if err != nil {
		return graph.Document{}, err
	}
	nodes, edges, _ := bytes.Cut([]byte(plain), []byte("\n\n"))
	return graph.Document{Nodes: lines(nodes), Edges: lines(edges)}, nil
}

// joined returns a list as text with each element on its own line, so that lines can split it without a JSON parser. It replaces line
// breaks within elements with spaces. This does not change the JSON, because line breaks occur only between tokens.
func joined(list []json.RawMessage) string {
	return strings.Join(sqldb.Converted(list, func(raw json.RawMessage) string {
		return strings.ReplaceAll(string(raw), "\n", " ")
	}), "\n")
}

// lines splits a text of joined into its elements, which share the memory of text.
func lines(text []byte) []json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	return sqldb.Converted(bytes.Split(text, []byte("\n")), func(line []byte) json.RawMessage { return line })
}
