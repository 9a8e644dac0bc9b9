package sqldb

import (
	"database/sql/driver"
	"sync/atomic"
)

// Unexported constants, for tests.
const (
	MaxStatements = maxStatements
	MaxText       = maxText
	MaxValues     = maxValues
	Mark          = mark
)

// SQLiteConn exports sqliteConn for tests.
type SQLiteConn = sqliteConn

// Keeping returns a connector whose connections cache compiled statements. compiled counts compilations.
func Keeping(connector driver.Connector, compiled *atomic.Int64) driver.Connector {
	return keepingConnector{connector, watched{compiled, func(error) {}}}
}

// AppendText appends a marked SQL text literal to b.
func AppendText(b []byte, s string) []byte { return newMarkingDialect().AppendString(b, s) }

// LiftValues returns a statement with placeholders for its marked values, and these values.
func LiftValues(statement string) (string, []driver.NamedValue) {
	text, values := liftValues(statement, nil)
	return string(text), values
}
