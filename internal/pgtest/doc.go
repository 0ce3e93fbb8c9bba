// Package pgtest gives tests a PostgreSQL server: the one that $SWAPPER_POSTGRES
// names, or one that is started from the programs of the machine.
package pgtest
