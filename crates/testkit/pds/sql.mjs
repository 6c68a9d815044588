// Runs one statement on a database of the PDS, and prints the rows as JSON:   sql.mjs FILE SQL
// The PDS may be running: it is one more connection.
import Database from 'better-sqlite3'

const [file, sql] = process.argv.slice(2)
const statement = new Database(file, { timeout: 10_000 }).prepare(sql)
console.log(JSON.stringify(statement.reader ? statement.all() : [statement.run().changes]))
