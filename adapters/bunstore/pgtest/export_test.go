package pgtest

// Unexported functions, for the tests of this package.
var (
	FindBinaries = findBinaries
	WithDatabase = withDatabase
)
