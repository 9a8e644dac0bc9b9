package pgtest

// Names for the tests of this package, in addition to DSN.
var (
	FindBinaries = findBinaries
	WithDatabase = withDatabase
)
