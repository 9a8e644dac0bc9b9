package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip/proof"
)

// Proofs stores proofs of the ownership of numbers; it implements proof.Store.
type Proofs struct{ DB *bunstore.DB }

func (s Proofs) rows() sqldb.Rows[proof.Proof, proofRow] {
	return sqldb.Rows[proof.Proof, proofRow]{DB: s.DB.Core(), Kind: "proof", Row: sqldb.Plain(newProofRow), Value: sqldb.Plain(proofRow.proof)}
}

type proofRow struct {
	bun.BaseModel `bun:"table:sip_number_proofs"`

	ID        string     `bun:"id,pk"`
	Org       string     `bun:"org"`
	Number    string     `bun:"number"`
	State     string     `bun:"state"`
	Reason    string     `bun:"reason"`
	Hash      string     `bun:"hash"`
	Tries     int        `bun:"tries"`
	CreatedAt time.Time  `bun:"created_at"`
	CalledAt  *time.Time `bun:"called_at"`
	ExpiresAt time.Time  `bun:"expires_at"`
	Version   int64      `bun:"version"`
}

func newProofRow(p proof.Proof) proofRow {
	return proofRow{
		ID: p.ID, Org: string(p.Org), Number: string(p.Number), State: string(p.State), Reason: p.Reason, Hash: p.Hash, Tries: p.Tries,
		CreatedAt: sqldb.Stored(p.CreatedAt), CalledAt: sqldb.StoredIfSet(p.CalledAt), ExpiresAt: sqldb.Stored(p.ExpiresAt), Version: p.Version,
	}
}

func (r proofRow) proof() proof.Proof {
	return proof.Proof{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number), State: proof.State(r.State), Reason: r.Reason,
		Hash: r.Hash, Tries: r.Tries, CreatedAt: sqldb.Stored(r.CreatedAt), CalledAt: sqldb.StoredIfSet(r.CalledAt),
		ExpiresAt: sqldb.Stored(r.ExpiresAt), Version: r.Version,
	}
}

// Insert adds a proof, unless the limit of proofs since the given time is reached for the number or for the organization. In that case
// added is false, and oldest is the creation time of the oldest proof that counts towards the limit; if both limits are reached, it is the
// later of the two times. A lock serializes all insertions, which are rare.
func (s Proofs) Insert(
	ctx context.Context, p proof.Proof, limits proof.Limits, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = s.DB.Do(ctx, func(ctx context.Context) error {
		added, oldest = false, time.Time{}
		err := s.rows().DB.Write(ctx, []any{p}, func(ctx context.Context, idb bun.IDB) error {
			if err := s.rows().DB.Alone(ctx, idb, "number proofs"); err != nil {
				return err
			}
			for _, of := range []struct {
				column, value string
				limit         int
			}{{"number", string(p.Number), limits.Number}, {"org", string(p.Org), limits.Org}} {
				var created []time.Time // of the limit-th newest proof, if it exists
				err := idb.NewSelect().Model((*proofRow)(nil)).Column("created_at").
					Where("? = ?", bun.Ident(of.column), of.value).Where("created_at > ?", sqldb.Stored(since)).
					Order("created_at DESC").Offset(int64(of.limit-1)).Limit(1).Scan(ctx, &created)
				if err != nil {
					return err
				}
				if len(created) > 0 && created[0].After(oldest) {
					oldest = created[0].UTC()
				}
			}
			return nil
		})
		if err != nil || !oldest.IsZero() {
			return err
		}
		added = true
		return s.rows().Insert(ctx, p)
	})
	return added && err == nil, oldest, err
}

// Update replaces a proof. It returns CodeConflict if the stored version differs, and CodeNotFound if the proof is absent.
func (s Proofs) Update(ctx context.Context, p proof.Proof) error { return s.rows().Replace(ctx, p) }

// Latest returns the newest proof of an organization for a number, or CodeNotFound if there is none.
func (s Proofs) Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (proof.Proof, error) {
	return s.rows().One(ctx, []any{org, number}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("number = ?", number).Order("created_at DESC", "id DESC").Limit(1)
	})
}

// DeleteOld deletes up to limit proofs that were created before the given time, and returns how many it deleted.
func (s Proofs) DeleteOld(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	return s.rows().DeleteUpTo(ctx, limit, "created_at < ?", sqldb.Stored(before))
}
