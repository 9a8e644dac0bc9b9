package portingstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// purpose binds something sealed to its column and row.
func purpose(what, org, id string) string { return fmt.Sprintf("%s:%q:%q", what, org, id) }

// seal encrypts the JSON of a value.
func (db core) seal(purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return db.Keyring.Seal(purpose, callwright.Secret(plain)), nil
}

// unseal reverses seal.
func (db core) unseal(purpose, sealed string, v any) error {
	plain, err := db.Unseal(purpose, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(plain), v); err != nil {
		return callwright.ErrInternal.Because(err)
	}
	return nil
}

// orNull returns the stored form of a time, or nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return sqldb.StoredIfSet(&t)
}

// orZero reverses orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
