package portingstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// purpose returns the purpose argument for Keyring.Seal. It binds a sealed value to its column and row.
func purpose(what, org, id string) string { return fmt.Sprintf("%s:%q:%q", what, org, id) }

// seal encodes a value as JSON and encrypts it.
func (db core) seal(purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return db.Keyring.Seal(purpose, callwright.Secret(plain)), nil
}

// unseal decrypts and decodes a value that seal encrypted.
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

// orZero returns the time of a nullable column, or the zero time for nil.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
