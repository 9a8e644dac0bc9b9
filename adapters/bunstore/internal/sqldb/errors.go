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

// awayPause is the RetryAfter of errors that mean that the database is unreachable or too busy.
const awayPause = 2 * time.Second

// errAway is returned while the database cannot be reached or accepts no writes.
var errAway = unavailable("the database cannot be reached, or accepts no writes, at the moment")

// errBusy is returned for a transaction that failed at each attempt because of other transactions.
var errBusy = unavailable(callwright.ErrUnavailable.Message)

// errTooSlow is returned for a transaction or a statement that exceeded the time limit.
var errTooSlow = unavailable(errSlow.Error())

// errFull is returned for writes while the disk is full or fails.
var errFull = unavailable("the database cannot write: its disk is full or fails")

// unavailable returns a CodeUnavailable error with RetryAfter awayPause.
func unavailable(message string) *callwright.Error {
	return &callwright.Error{Code: callwright.CodeUnavailable, Message: message, RetryAfter: awayPause}
}

// errDamaged is returned for all accesses after damage was found.
var errDamaged = callwright.Errorf(callwright.CodeUnavailable, "the database is damaged: stop the server and restore it from a backup")

// translate converts the error of a driver to a *callwright.Error. The driver's error becomes the cause, and does not appear in the
// message. Errors that are already a *callwright.Error are returned unchanged, unless they report damage of the database. translate also
// records a full disk and damage.
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
		// The drivers return their own errors for a canceled context, but callers look for the error of the context.
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

// translateOf replaces the error of a transaction's function with an error that describes the fault of the database, if there is such a
// fault. This is necessary because other adapters use the transaction, too, and report only that a statement has failed.
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

// noteDamage records the damage of the database if err reports it, and logs the first such error.
func (db *DB) noteDamage(err error) {
	if damagedFile(err) && !db.damaged.Swap(true) {
		db.Logger.Error(errDamaged.Message, "error", err)
	}
}

// Changed returns err if it is not nil, and otherwise nil if the statement changed a row. If the statement changed no row, Changed returns
// its last argument.
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

// checkText returns CodeBadRequest if a value contains text that PostgreSQL cannot store: NUL characters or invalid UTF-8.
func checkText(values ...any) error {
	for _, v := range values {
		if !cleanValue(reflect.ValueOf(v)) {
			return callwright.Errorf(callwright.CodeBadRequest, "text must be UTF-8 without NUL characters")
		}
	}
	return nil
}

// cleanValue reports whether every text within v is UTF-8 without NUL characters. It skips byte slices and unexported fields.
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
