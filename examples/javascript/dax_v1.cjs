// The older DAX client for JavaScript (AWS SDK v2), unmodified, against `daxsim up --sample-data`.
//
//   npm install --prefix examples/javascript
//   node examples/javascript/dax_v1.cjs [dax://127.0.0.1:8111]
process.env.AWS_ACCESS_KEY_ID ??= 'local';
process.env.AWS_SECRET_ACCESS_KEY ??= 'local';

const AmazonDaxClient = require('amazon-dax-client');
const AWS = require('aws-sdk');

const endpoint = process.argv[2] ?? 'dax://127.0.0.1:8111';
const service = new AmazonDaxClient({ endpoints: [endpoint], region: 'us-east-1' });
const dax = new AWS.DynamoDB.DocumentClient({ service });

dax.scan({ TableName: process.argv[3] ?? 'GameScores', Limit: 3 }, (failure, page) => {
  if (failure) throw failure;
  console.log(`${page.Count} items`);
  for (const item of page.Items) console.log(JSON.stringify(item));
  process.exit(0);
});
