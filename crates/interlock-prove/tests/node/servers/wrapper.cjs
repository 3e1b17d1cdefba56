// Starts the server that it is told and has nothing else to say, as the launchers of packages do.
const { spawn } = require('node:child_process');

spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' }).on('exit', (code) => process.exit(code));
