package sqldb

import (
	"database/sql/driver"
	"sync/atomic"
)

// Limits, and parts of statements.
const (
	MaxStatements = maxStatements
	MaxText       = maxText
	MaxValues     = maxValues
	Mark          = mark
)

// SQLiteConn is a connection of the driver.
type SQLiteConn = sqliteConn

// Keeping makes the connections of a connector keep their statements.
func Keeping(connector driver.Connector, compiled *atomic.Int64) driver.Connector {
	return keepingConnector{connector, watched{compiled, func(error) {}}}
}

// AppendText writes a marked text.
func AppendText(b []byte, s string) []byte { return newMarkingDialect().AppendString(b, s) }

// LiftValues returns a statement with its values lifted out of it.
func LiftValues(statement string) (string, []driver.NamedValue) {
	text, values := liftValues(statement, nil)
	return string(text), values
}
