// The official DAX client for JavaScript (AWS SDK v3), unmodified, against `daxsim up --sample-data`.
//
//   npm install --prefix examples/javascript
//   node examples/javascript/dax_v3.mjs [dax://127.0.0.1:8111]
//
// Give the address as numbers: this client asks DNS, and no hosts file, for a name.
import { DaxDocument } from '@amazon-dax-sdk/lib-dax';

const endpoint = process.argv[2] ?? 'dax://127.0.0.1:8111';
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const dax = new DaxDocument({ endpoint, region: 'us-east-1', credentials });

const { Items, Count } = await dax.scan({ TableName: process.argv[3] ?? 'GameScores', Limit: 3 });
console.log(`${Count} items`);
for (const item of Items) console.log(JSON.stringify(item));
process.exit(0);
