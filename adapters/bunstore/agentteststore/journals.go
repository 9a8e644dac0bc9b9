package agentteststore

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

type answerRow struct {
	bun.BaseModel `bun:"table:test_answers,alias:answer"`

	Run    string `bun:"run_id,pk"`
	Org    string `bun:"org"`
	Key    string `bun:"answer_key,pk"`
	Answer string `bun:"answer"` // sealed answer
}

func answerPurpose(org, run, key string) string {
	return fmt.Sprintf("answer in test run:%q:%q:%q", org, run, key)
}

// AppendAnswer adds an answer to the journal of a run. It returns CodeConflict if the journal contains the key, or if the node is not
// executing the run. On PostgreSQL it locks the run, because the end of the run deletes the journal, and no answer may follow.
func (s Store) AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error {
	return s.appendAnswer(ctx, org, run, key, answer, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(running).Where("node = ?", node)
	})
}

// inOpen is the condition that a run belongs to a group that has not ended.
const inOpen = `EXISTS (SELECT 1 FROM test_batches AS b WHERE b.id = run.batch_id AND b.state IN ('PENDING', 'RUNNING'))`

// AppendJudgement adds a judge's answer to the journal of an ended run whose group has not ended. It returns CodeConflict if the journal
// contains the key, if the run has not ended, or if the group has ended.
func (s Store) AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error {
	return s.appendAnswer(ctx, org, run, key, answer, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(over).Where(inOpen)
	})
}

// appendAnswer adds an answer to the journal of a run. It returns CodeConflict if the key exists or the function wanted does not select the
// run, and CodeNotFound if the run is absent.
func (s Store) appendAnswer(
	ctx context.Context, org callwright.OrgID, run, key string, answer []byte, wanted func(*bun.SelectQuery) *bun.SelectQuery,
) error {
	sealed := s.core().Keyring.Seal(answerPurpose(string(org), run, key), callwright.Secret(answer))
	return s.core().Write(ctx, []any{org, run, key}, func(ctx context.Context, idb bun.IDB) error {
		row := s.core().ForUpdate(wanted(idb.NewSelect().Model((*runRow)(nil)).Column("id", "org").ColumnExpr("?", key).
			ColumnExpr("?", sealed).Where("id = ?", run).Where("org = ?", org)))
		result, err := idb.NewRaw("INSERT INTO test_answers (run_id, org, answer_key, answer) ? ON CONFLICT DO NOTHING", row).Exec(ctx)
		return sqldb.Outrun(ctx, "run", sqldb.Changed(result, err, callwright.ErrConflict), findRun(idb, org, run))
	})
}

// Answers returns the decrypted answers in the journal of a run, by key.
func (s Store) Answers(ctx context.Context, org callwright.OrgID, run string) (map[string][]byte, error) {
	var rows []answerRow
	err := s.core().Read(ctx, []any{org, run}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("run_id = ?", run).Where("org = ?", org).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	answers := make(map[string][]byte, len(rows))
	for _, row := range rows {
		plain, err := s.core().Unseal(answerPurpose(row.Org, row.Run, row.Key), row.Answer)
		if err != nil {
			return nil, err
		}
		answers[row.Key] = []byte(plain)
	}
	return answers, nil
}

// DeleteAnswers deletes all answers in the journal of a run.
func (s Store) DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error {
	return s.core().Write(ctx, []any{org, run}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*answerRow)(nil)).Where("run_id = ?", run).Where("org = ?", org).Exec(ctx)
		return err
	})
}
