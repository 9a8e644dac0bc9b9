package sqldb

import (
	"context"
	"reflect"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/callwright/callwright"
)

// Rows accesses a table whose rows R represent values V. The model R declares a primary key, and a column "org" unless values belong to no
// organization. If it declares "version", Insert sets the version to 1, and Replace compares it. The methods have the same names as the
// methods of memory.Rows in memstore.
type Rows[V, R any] struct {
	DB     *DB
	Kind   string // name of a value in errors
	Row    func(V) (R, error)
	Value  func(R) (V, error)
	Where  string   // restricts Find, Exists and Replace to matching rows; empty means all
	Fixed  []string // columns that Replace does not change
	Sealed bool     // only the texts of the row are checked: sealed columns may contain any text
}

// Plain adapts a conversion that cannot fail to the type of Rows.Row and Rows.Value.
func Plain[A, B any](convert func(A) B) func(A) (B, error) {
	return func(a A) (B, error) { return convert(a), nil }
}

// row converts a value to a row, and returns the inputs whose texts Write must check.
func (r Rows[V, R]) row(v V) (row R, inputs []any, err error) {
	if row, err = r.Row(v); r.Sealed {
		return row, []any{row}, err
	}
	return row, []any{v, row}, err
}

// key returns the columns that identify a row: the primary key and "org", if present. The methods with a key argument compare it with the
// first of these columns.
func (r Rows[V, R]) key() (columns []string) {
	for _, field := range r.table().PKs {
		if field.Name != "org" {
			columns = append(columns, field.Name)
		}
	}
	if r.has("org") {
		columns = append(columns, "org")
	}
	return columns
}

func (r Rows[V, R]) table() *schema.Table { return r.DB.writer.Table(reflect.TypeFor[R]()) }

// has reports whether the model declares a column.
func (r Rows[V, R]) has(column string) bool { return r.table().HasField(column) }

// Insert adds a value with version 1. It returns CodeConflict if the key is taken. This conflict leaves a PostgreSQL transaction usable.
func (r Rows[V, R]) Insert(ctx context.Context, v V) error {
	row, inputs, err := r.row(v)
	if err != nil {
		return err
	}
	return r.DB.Write(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		insert := idb.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Returning("NULL")
		if r.has("version") {
			insert.Value("version", "1")
		}
		result, err := insert.Exec(ctx)
		return Changed(result, err, callwright.ErrConflict)
	})
}

// Replace stores v in place of the value that has v's organization, key and version, and increments the version. It returns CodeConflict if
// the stored version differs, and CodeNotFound if the organization does not own such a value. If the model declares no version, Replace
// compares none.
func (r Rows[V, R]) Replace(ctx context.Context, v V) error {
	row, inputs, err := r.row(v)
	if err != nil {
		return err
	}
	return r.DB.Write(ctx, inputs, func(ctx context.Context, idb bun.IDB) error { return r.replace(ctx, idb, &row) })
}

func (r Rows[V, R]) replace(ctx context.Context, idb bun.IDB, row *R) error {
	key := r.key()
	update := idb.NewUpdate().Model(row)
	if len(r.Fixed) > 0 {
		update.ExcludeColumn(r.Fixed...)
	}
	find := idb.NewSelect().Model(row).WherePK(key...)
	if r.Where != "" {
		update.Where(r.Where)
		find.Where(r.Where)
	}
	if !r.has("version") {
		result, err := update.WherePK(key...).Exec(ctx)
		return Changed(result, err, callwright.NotFound(r.Kind))
	}
	result, err := update.Value("version", "version + 1").WherePK(append(slices.Clone(key), "version")...).Exec(ctx)
	return Outrun(ctx, r.Kind, Changed(result, err, callwright.ErrConflict), find)
}

// Store stores a value. If its version is 0, Store inserts it, or overwrites the value with the same key like DB.Supplant. Otherwise it
// stores the value like Replace.
func (r Rows[V, R]) Store(ctx context.Context, v V) error {
	row, inputs, err := r.row(v)
	if err != nil {
		return err
	}
	version := r.table().FieldMap["version"].Value(reflect.ValueOf(&row).Elem())
	isNew := version.IsZero()
	if isNew {
		version.SetInt(1)
	}
	return r.DB.Write(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		if isNew {
			return r.DB.Supplant(ctx, idb, &row, r.key()[0])
		}
		return r.replace(ctx, idb, &row)
	})
}

// Find returns the value of an organization with the given key, or CodeNotFound if it is absent.
func (r Rows[V, R]) Find(ctx context.Context, org callwright.OrgID, key string) (V, error) {
	return r.One(ctx, []any{org, key}, func(q *bun.SelectQuery) *bun.SelectQuery { return r.find(q, org, key) })
}

// Exists returns nil if the organization owns a value with the given key, and otherwise CodeNotFound.
func (r Rows[V, R]) Exists(ctx context.Context, org callwright.OrgID, key string) error {
	return r.DB.Read(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		return Exists(ctx, r.Kind, r.find(idb.NewSelect().Model((*R)(nil)), org, key))
	})
}

func (r Rows[V, R]) find(q *bun.SelectQuery, org callwright.OrgID, key string) *bun.SelectQuery {
	q = q.Where("? = ?", bun.Ident(r.key()[0]), key)
	if r.has("org") {
		q = q.Where("org = ?", org)
	}
	if r.Where != "" {
		q = q.Where(r.Where)
	}
	return q
}

// One returns the value that the function choose selects, or CodeNotFound if it selects none. inputs must contain all texts of the query.
func (r Rows[V, R]) One(
	ctx context.Context, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) (found V, err error) {
	var row R
	err = r.DB.Read(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		return Absent(r.Kind, choose(idb.NewSelect().Model(&row)).Scan(ctx))
	})
	if err != nil {
		return found, err
	}
	return r.Value(row)
}

// Select returns the values that the function choose selects, or nil if it selects none. inputs must contain all texts of the query.
func (r Rows[V, R]) Select(
	ctx context.Context, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]V, error) {
	var rows []R
	err := r.DB.Read(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return choose(idb.NewSelect().Model(&rows)).Scan(ctx)
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return ConvertedAll(rows, r.Value)
}

// Page returns up to limit values after a keyset, out of the values that the function choose selects. They are ordered by column, which
// holds times, and then by id, both descending.
func (r Rows[V, R]) Page(
	ctx context.Context, column string, after callwright.Keyset, limit int, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]V, error) {
	return r.Select(ctx, append(inputs, after), func(q *bun.SelectQuery) *bun.SelectQuery {
		if !after.IsZero() {
			q = q.Where("(?, id) < (?, ?)", bun.Ident(column), Stored(after.At), after.ID)
		}
		return choose(q).OrderExpr("? DESC, id DESC", bun.Ident(column)).Limit(int64(limit))
	})
}

// Delete deletes the value of an organization with the given key. It returns nil if the value is absent.
func (r Rows[V, R]) Delete(ctx context.Context, org callwright.OrgID, key string) error {
	return r.DeleteWhere(ctx, "? = ? AND org = ?", bun.Ident(r.key()[0]), key, org)
}

// DeleteExisting deletes the value of an organization with the given key, or returns CodeNotFound if it is absent.
func (r Rows[V, R]) DeleteExisting(ctx context.Context, org callwright.OrgID, key string) error {
	return r.DB.Write(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*R)(nil)).Where("? = ?", bun.Ident(r.key()[0]), key).Where("org = ?", org).Exec(ctx)
		return Changed(result, err, callwright.NotFound(r.Kind))
	})
}

// Count returns the number of values that match an SQL condition.
func (r Rows[V, R]) Count(ctx context.Context, condition string, args ...any) (count int, err error) {
	err = r.DB.Read(ctx, args, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = Count(ctx, idb.NewSelect().Model((*R)(nil)).Where(condition, args...))
		return err
	})
	return count, err
}

// DeleteWhere deletes the values that match an SQL condition.
func (r Rows[V, R]) DeleteWhere(ctx context.Context, condition string, args ...any) error {
	return r.DB.Write(ctx, args, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*R)(nil)).Where(condition, args...).Exec(ctx)
		return err
	})
}

// DeleteUpTo deletes up to limit values that match an SQL condition, and returns how many it deleted. It skips rows that another node is
// deleting.
func (r Rows[V, R]) DeleteUpTo(ctx context.Context, limit int, condition string, args ...any) (int, error) {
	return r.DB.DeleteRows(ctx, (*R)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(condition, args...).Limit(int64(limit))
	})
}
