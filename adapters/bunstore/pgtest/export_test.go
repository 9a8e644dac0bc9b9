package pgtest

// Names for the tests of this package, besides DSN.
var (
	FindBinaries = findBinaries
	WithDatabase = withDatabase
)
