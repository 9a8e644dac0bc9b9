package agentteststore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

type scenarioRow struct {
	bun.BaseModel `bun:"table:test_scenarios,alias:scenario"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Pathway   string    `bun:"pathway_id"`
	Persona   string    `bun:"persona_id"`
	Name      string    `bun:"name"`
	Category  string    `bun:"category"`
	Required  bool      `bun:"required"`
	Enabled   bool      `bun:"enabled"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`  // scenario.Scenario.Revision
	Document  string    `bun:"document"` // sealed scenario.Scenario
}

func (db core) scenarioRow(sc scenario.Scenario) (row scenarioRow, err error) {
	row = scenarioRow{
		ID: sc.ID, Org: string(sc.Org), Pathway: sc.Pathway, Persona: sc.Persona, Name: sc.Name, Category: string(sc.Category),
		Required: sc.Required, Enabled: sc.Enabled, CreatedAt: sqldb.Stored(sc.CreatedAt), UpdatedAt: sqldb.Stored(sc.UpdatedAt),
		Version: sc.Revision,
	}
	row.Document, err = db.seal(purpose("test scenario", row.Org, row.ID), sc)
	return row, err
}

// scenario converts a row to a scenario. It reads fields with their own columns from these columns, and the others from the document.
func (db core) scenario(r scenarioRow) (scenario.Scenario, error) {
	sc, err := db.unsealScenario(purpose("test scenario", r.Org, r.ID), r.Document)
	sc.ID, sc.Org, sc.Pathway, sc.Persona, sc.Name = r.ID, callwright.OrgID(r.Org), r.Pathway, r.Persona, r.Name
	sc.Category, sc.Required, sc.Enabled = scenario.Category(r.Category), r.Required, r.Enabled
	sc.CreatedAt, sc.UpdatedAt, sc.Revision = r.CreatedAt.UTC(), r.UpdatedAt.UTC(), r.Version
	return sc, err
}

func (s Store) scenarios() sqldb.Rows[scenario.Scenario, scenarioRow] {
	return sqldb.Rows[scenario.Scenario, scenarioRow]{
		DB: s.DB.Core(), Kind: "scenario", Row: s.core().scenarioRow, Value: s.core().scenario, Sealed: true,
		Fixed: []string{"id", "org", "pathway_id", "persona_id", "created_at"},
	}
}

// InsertScenario adds a scenario. It returns agenttest.ErrNameTaken if the name is taken, and CodeConflict if the id exists.
func (s Store) InsertScenario(ctx context.Context, sc scenario.Scenario) error {
	err := s.scenarios().Insert(ctx, sc)
	if !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	return s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		taken := idb.NewSelect().Model((*scenarioRow)(nil)).Where("org = ?", sc.Org).Where("pathway_id = ?", sc.Pathway).
			Where("persona_id = ?", sc.Persona).Where("name = ?", sc.Name).Where("id <> ?", sc.ID)
		if sqldb.Exists(ctx, "scenario", taken) == nil {
			return agenttest.ErrNameTaken
		}
		return err
	})
}

func findScenario(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*scenarioRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// Scenario returns one scenario, or CodeNotFound if it is absent.
func (s Store) Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error) {
	return s.scenarios().Find(ctx, org, id)
}

// HoldScenario locks a scenario until the transaction finishes, or returns CodeNotFound if it is absent. SQLite needs no lock, because only
// one transaction writes at a time.
func (s Store) HoldScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		var found string
		held := s.core().ForUpdate(findScenario(idb, org, id).Column("id"))
		return sqldb.Absent("scenario", held.Scan(ctx, &found))
	})
}

// UpdateScenario replaces a scenario. It returns CodeConflict if the stored revision is not sc.Revision, CodeNotFound if the scenario is
// absent, and agenttest.ErrNameTaken if the name is taken.
func (s Store) UpdateScenario(ctx context.Context, sc scenario.Scenario) error {
	err := s.scenarios().Replace(ctx, sc)
	// Only a conflict with a cause comes from the database, that is, from the unique index of names. Conflicts of revisions have no cause.
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code == callwright.CodeConflict && e.Unwrap() != nil {
		return agenttest.ErrNameTaken
	}
	return err
}

// FindScenarios returns a page of scenarios, newest first. Unless f.Brief is set, it includes their documents and their most recent runs.
// agenttest.MaxRead bounds the size of the page.
func (s Store) FindScenarios(
	ctx context.Context, org callwright.OrgID, f agenttest.ScenarioFilter,
) (found []agenttest.Listed, err error) {
	if f.Limit <= 0 {
		return nil, nil
	}
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) (err error) {
		if found, err = s.listed(ctx, idb, org, f); err != nil || f.Brief || len(found) == 0 {
			return err
		}
		return s.addRecent(ctx, idb, found)
	})
	return found, err
}

// listed returns the scenarios of a page. To bound its memory, it reads row by row, and stops after the row at which the total size exceeds
// agenttest.MaxRead, but not before the second row.
func (s Store) listed(
	ctx context.Context, idb bun.IDB, org callwright.OrgID, f agenttest.ScenarioFilter,
) (found []agenttest.Listed, err error) {
	q := chosen(idb.NewSelect().Model((*scenarioRow)(nil)), org, f)
	if f.Brief {
		q = q.ExcludeColumn("document")
	}
	rows, err := q.Order("created_at DESC", "id DESC").Limit(int64(f.Limit)).Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // an error of Close does not matter: all needed rows are read
	for total := 0; (total <= agenttest.MaxRead || len(found) < 2) && rows.Next(); {
		var row scenarioRow
		if err := s.core().ScanRow(ctx, rows, &row); err != nil {
			return nil, err
		}
		var l agenttest.Listed
		if l.Scenario, err = s.core().scenario(row); err != nil {
			return nil, err
		}
		found, total = append(found, l), total+l.Size()
	}
	return found, rows.Err()
}

// chosen restricts a query to the scenarios of an organization that match the filter and follow f.After.
func chosen(q *bun.SelectQuery, org callwright.OrgID, f agenttest.ScenarioFilter) *bun.SelectQuery {
	q = q.Where("org = ?", org)
	if len(f.IDs) > 0 {
		q = q.Where("id IN (?)", bun.List(f.IDs))
	}
	if f.Pathway != "" {
		q = q.Where("pathway_id = ?", f.Pathway)
	}
	if f.Persona != "" {
		q = q.Where("persona_id = ?", f.Persona)
	}
	if f.Category != "" {
		q = q.Where("category = ?", f.Category)
	}
	if f.Enabled != nil {
		q = q.Where("enabled = ?", *f.Enabled)
	}
	if f.Required != nil {
		q = q.Where("required = ?", *f.Required)
	}
	if !f.After.IsZero() {
		q = q.Where("(created_at, id) < (?, ?)", f.After.At, f.After.ID)
	}
	return q
}

// recentOf is the condition that a run is the most recent run of one of the given scenarios, not counting experiments. For each scenario it
// reads the newest entry in the index of runs, and one more for each later experiment.
const recentOf = `id IN (SELECT (SELECT r.id FROM test_runs AS r WHERE r.org = s.org AND r.scenario_id = s.id AND NOT r.experiment
	ORDER BY r.created_at DESC, r.id DESC LIMIT 1) FROM test_scenarios AS s WHERE s.id IN (?))`

// addRecent sets Recent of each scenario to its most recent run, if any.
func (s Store) addRecent(ctx context.Context, idb bun.IDB, found []agenttest.Listed) error {
	ids := sqldb.Converted(found, func(l agenttest.Listed) string { return l.ID })
	var rows []runRow
	if err := idb.NewSelect().Model(&rows).ExcludeColumn("outcome", "summary").Where(recentOf, bun.List(ids)).Scan(ctx); err != nil {
		return err
	}
	recent := make(map[string]*run.Run, len(rows))
	for _, row := range rows {
		r, err := s.core().run(row)
		if err != nil {
			return err
		}
		recent[r.Scenario] = &r
	}
	for i := range found {
		found[i].Recent = recent[found[i].ID]
	}
	return nil
}

// RequiredScenarios returns the revisions of up to limit enabled scenarios that promotion of the pathway requires, by id.
func (s Store) RequiredScenarios(
	ctx context.Context, org callwright.OrgID, pathway string, limit int,
) (map[string]int64, error) {
	required := map[string]int64{}
	if limit <= 0 {
		return required, nil
	}
	var rows []scenarioRow
	err := s.core().Read(ctx, []any{org, pathway}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Column("id", "version").Where("org = ?", org).Where("pathway_id = ?", pathway).
			Where("enabled").Where("required").Limit(int64(limit)).Scan(ctx)
	})
	for _, row := range rows {
		required[row.ID] = row.Version
	}
	return required, err
}

// CountScenarios returns the number of an organization's scenarios.
func (s Store) CountScenarios(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.scenarios().Count(ctx, "org = ?", org)
}
