package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// awayPause is the RetryAfter of errors about a database that is unreachable or too busy.
const awayPause = 2 * time.Second

// errAway is the error of callers while the database cannot be reached or takes no writes.
var errAway = unavailable("the database cannot be reached, or takes no writes, at the moment")

// errBusy is the error of a transaction that lost against others at each attempt.
var errBusy = unavailable(callwright.ErrUnavailable.Message)

// errTooSlow is the error of a transaction that took longer than the limit.
var errTooSlow = unavailable(errSlow.Error())

// errFull is the error of writes while the database cannot write.
var errFull = unavailable("the database cannot write: its disk is full or fails")

// unavailable returns an error after which callers may come again.
func unavailable(message string) *callwright.Error {
	return &callwright.Error{Code: callwright.CodeUnavailable, Message: message, RetryAfter: awayPause}
}

// errDamaged is the error of callers after damage was found.
var errDamaged = callwright.Errorf(callwright.CodeUnavailable, "the database is damaged: stop the server and restore it from a backup")

// translate turns a driver's error into one with a code. The driver's own words are only in the cause.
func (db *DB) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if db.dialect.damaged(err) {
		db.noteDamage(err)
		return errDamaged.Because(err)
	}
	if _, coded := errors.AsType[*callwright.Error](err); coded {
		return err
	}
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return errTooSlow.Because(err)
	case ctx.Err() != nil:
		// The drivers have errors of their own for this, but callers look for the error of the context.
		return callwright.ErrUnavailable.Because(context.Cause(ctx))
	case errors.Is(err, sql.ErrNoRows):
		return callwright.ErrNotFound.Because(err)
	case db.dialect.orphan(err):
		return callwright.ErrNotFound.Because(err)
	case db.dialect.conflict(err):
		return callwright.ErrConflict.Because(err)
	case db.dialect.full(err):
		db.full.Store(true)
		return errFull.Because(err)
	case db.dialect.away(err):
		return errAway.Because(err)
	case db.dialect.transient(err):
		return errBusy.Because(err)
	default:
		return callwright.ErrInternal.Because(err)
	}
}

// translateOf turns the error of a transaction's function into one that describes the fault of the database, if there is one:
// other adapters use the transaction, too, and see only that a statement has failed.
func (db *DB) translateOf(ctx context.Context, err error) error {
	switch {
	case db.dialect.damaged(err):
		return db.translate(ctx, err)
	case callwright.CodeOf(err) != callwright.CodeInternal:
		return err
	case errors.Is(context.Cause(ctx), errSlow):
		return errTooSlow.Because(err)
	case db.dialect.away(err):
		return errAway.Because(err)
	}
	return err
}

// noteDamage records an error about damage, and logs the first.
func (db *DB) noteDamage(err error) {
	if damagedFile(err) && !db.damaged.Swap(true) {
		db.Logger.Error(errDamaged.Message, "error", err)
	}
}

// Changed returns nil when a statement changed a row, and otherwise when it changed none.
func Changed(result sql.Result, err error, otherwise error) error {
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if rows == 0 {
		return otherwise
	}
	return nil
}

// checkText refuses text that PostgreSQL cannot store: NUL characters, and anything but UTF-8.
func checkText(values ...any) error {
	for _, v := range values {
		if !cleanValue(reflect.ValueOf(v)) {
			return callwright.Errorf(callwright.CodeBadRequest, "text must be UTF-8 without NUL characters")
		}
	}
	return nil
}

// cleanValue checks every text within v, but not bytes.
func cleanValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String()) && strings.IndexByte(v.String(), 0) < 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || cleanValue(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range v.Len() {
			if !cleanValue(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for pairs := v.MapRange(); pairs.Next(); {
			if !cleanValue(pairs.Key()) || !cleanValue(pairs.Value()) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !cleanValue(v.Field(i)) {
				return false
			}
		}
	default:
	}
	return true
}
